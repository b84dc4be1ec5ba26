#include "bench/store/served_objects.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/bytes.h"
#include "lab/lives/resp_link.h"
#include "link/token_proof.h"
#include "runtime/when_all.h"

namespace remora::bench {
namespace {

constexpr const char* objects_pool_size = "1G";
constexpr std::uint64_t server_patience_ns = 120'000'000'000;
constexpr std::uint64_t server_look_ns = 2'000'000;
constexpr std::size_t puts_in_flight = 16;

// Of each object another one.
std::array<std::byte, ServedObjects::value_bytes> value_of(std::uint64_t number) {
  std::array<std::byte, ServedObjects::value_bytes> value = {};
  std::memcpy(value.data(), &number, sizeof number);
  return value;
}

}  // namespace

ServedObjects::ServedObjects(std::string folder, std::string pool, bool listens)
    : folder_(std::move(folder)),
      pool_(std::move(pool)),
      token_(listens ? link::fresh_token() : std::string()) {}

std::string ServedObjects::name_of(std::uint64_t number) {
  return fmt::format("object/{:012}", number);
}

Status ServedObjects::start() {
  const std::string socket = folder_ + "/objects.sock";
  const std::string complaints = folder_ + "/complaints";
  std::vector<std::string> arguments = {"--pool",   pool_,  "--size", objects_pool_size,
                                        "--socket", socket, "--resp", ""};
  if (!token_.empty()) {
    const std::string settings = folder_ + "/objects.toml";
    std::ofstream(settings) << "[access.tokens]\n\"" << token_ << "\" = \"write\"\n";
    std::filesystem::permissions(settings, std::filesystem::perms::owner_read);
    port_ = lab::RespLink::free_port();
    arguments.insert(arguments.end(),
                     {"--config", settings, "--listen", fmt::format("127.0.0.1:{}", port_)});
  }
  REMORA_TRY_RESULT(server, lab::ServerProcess::start(REMORA_COMMAND, arguments, complaints));
  server_.emplace(std::move(server).value());
  link::StoreLinkOptions options;
  options.client.timeout_ns = server_patience_ns;
  const std::uint64_t give_up_ns = loop_.after(server_patience_ns);
  for (;;) {
    Result<std::unique_ptr<link::StoreLink>> link =
        loop_.block_on(link::StoreLink::connect(loop_, socket, options));
    if (link.ok()) {
      link_ = std::move(link).value();
      return {};
    }
    if (server_->ended() || loop_.now_ns() > give_up_ns) {
      std::ifstream file(complaints);
      std::string complaint;
      std::getline(file, complaint);
      return Status(Code::closed, "the server does not come up: " + complaint);
    }
    (void)loop_.run_for(server_look_ns);
  }
}

Task<Status> ServedObjects::put_some(std::uint64_t& next, std::uint64_t end) {
  while (next < end) {
    const std::uint64_t number = next++;
    const std::string name = name_of(number);
    const auto value = value_of(number);
    REMORA_CO_TRY(co_await link_->store().put(as_bytes(name), value));
  }
  co_return Status();
}

Status ServedObjects::fill(std::uint64_t objects) {
  std::uint64_t next = 0;
  std::vector<Task<Status>> flows;
  for (std::size_t i = 0; i < puts_in_flight; ++i) {
    flows.push_back(put_some(next, objects));
  }
  for (const Status& status : loop_.block_on(when_all(std::move(flows)))) {
    REMORA_TRY(status);
  }
  return rest();
}

Status ServedObjects::rest() {
  for (;;) {
    const Result<std::uint64_t> awaited = told("awaited_versions");
    if (!awaited.ok() || *awaited == 0) {
      return awaited.ok() ? Status() : awaited.status();
    }
    (void)loop_.run_for(server_look_ns);
  }
}

Result<std::unique_ptr<link::StoreLink>> ServedObjects::another(PollLoop& loop, link::WireKind wire,
                                                                kv::VerifyReads policy) {
  link::StoreLinkOptions options;
  options.fabric = wire;
  if (wire == link::WireKind::roce) {
    options.network =
        fabric::nic::roce::IpEndpoint{fabric::nic::roce::parse_address("127.0.0.1").value(), port_};
    options.token = token_;
  }
  options.client.timeout_ns = server_patience_ns;
  options.client.verify_reads = policy;
  return loop.block_on(link::StoreLink::connect(loop, folder_ + "/objects.sock", options));
}

void ServedObjects::kill() {
  server_->kill();
  (void)server_->wait();
  link_.reset();
}

Status ServedObjects::look(std::uint64_t number) {
  std::array<std::byte, value_bytes> value = {};
  const std::string name = name_of(number);
  REMORA_TRY_RESULT(size, loop_.block_on(link_->store().get(as_bytes(name), value)));
  return *size == value.size() && value == value_of(number)
             ? Status()
             : Status(Code::damaged, name + " has another value than was put");
}

Result<std::uint64_t> ServedObjects::told(const char* name) {
  REMORA_TRY_RESULT(facts, loop_.block_on(link_->stat()));
  return std::stoull(find_fact(*facts, name).value_or("0"));
}

}  // namespace remora::bench
