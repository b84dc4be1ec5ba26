#include "tests/corruption/life.h"

#include <span>

#include "kv/local_store.h"
#include "lab/subjects/stores/plan.h"

namespace remora::corruption {
namespace {

constexpr std::size_t largest_value_bytes = 64 << 10;
constexpr std::uint64_t rest_ns = 200'000'000;

Answer answer_of(const Status& status) {
  if (status.code() == Code::not_found) {
    return {Answer::Kind::none, "", status.code()};
  }
  return {status.code() == Code::damaged ? Answer::Kind::damaged : Answer::Kind::failed,
          std::string(status.message()), status.code()};
}

}  // namespace

Life::Life(Region& region, const kv::Engine& engine, Faults faults)
    : region_(region),
      engine_(engine),
      faults_(std::move(faults)),
      network_(loop_, lab::nic_of_the_crash_world(), lab::memory_of_the_crash_world(), Random(1)),
      near_(loop_, network_),
      far_(loop_, network_),
      buffer_(largest_value_bytes, '\0') {
  loop_.add_cores(4);
}

Life::~Life() {
  client_.reset();
  server_.reset();
  pool_.reset();
}

Status Life::start() {
  REMORA_TRY_RESULT(pool, Pool::open(region_, "the pool"));
  pool_ = std::move(pool).value();
  REMORA_TRY_RESULT(server, engine_.start_server(Host(loop_, far_.nic, &region_, faults_), *pool_,
                                                 {.expected_keys = 512, .clean_at_percent = 50}));
  server_ = std::move(server).value();
  std::unique_ptr<kv::PendingClient> pending =
      engine_.start_client(Host(loop_, near_.nic, nullptr, faults_, {}, 2), {}).value();
  const kv::PeerAddress address = server_->accept(pending->address()).value();
  client_ = loop_.block_on(pending->connect(address)).value();
  return {};
}

Answer Life::ask_remotely(const std::string& key) {
  const Result<std::size_t> size =
      loop_.block_on(client_->get(as_bytes(key), std::as_writable_bytes(std::span(buffer_))));
  return size.ok() ? Answer{Answer::Kind::value, buffer_.substr(0, *size)}
                   : answer_of(size.status());
}

Answer Life::ask_locally(const std::string& key) {
  const std::optional<kv::LocalStore::Found> found = server_->local()->get(as_bytes(key));
  if (found && found->damaged) {
    return {Answer::Kind::damaged, "damaged"};
  }
  return found ? Answer{Answer::Kind::value, std::string(as_text(found->value))} : Answer{};
}

std::set<std::string> Life::scan() {
  struct Sink final : kv::ScanSink {
    void key(ConstBytes key) override { keys.insert(std::string(as_text(key))); }
    std::set<std::string> keys;
  } sink;
  kv::ScanCursor cursor = 0;
  do {
    cursor = server_->local()->scan(cursor, 64, sink);
  } while (cursor != 0);
  return sink.keys;
}

Status Life::put(const std::string& key, const std::string& value) {
  return loop_.block_on(client_->put(as_bytes(key), as_bytes(value), {kv::Durability::persistent}));
}

void Life::rest() {
  (void)loop_.run_for(rest_ns);
}

void Life::stop_in_order() {
  client_.reset();
  rest();
  (void)server_->finish();
  server_.reset();
  (void)pool_->close();
}

}  // namespace remora::corruption
