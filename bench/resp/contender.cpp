#include "bench/resp/contender.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string_view>
#include <thread>

#include "bench/resp/transactions.h"
#include "lab/measured/child.h"
#include "runtime/poll_loop.h"
#include "server/daemon.h"

namespace remora::bench {
namespace {

constexpr std::uint64_t pool_bytes = std::uint64_t{1} << 30;
// Where they run apart.
constexpr unsigned client_core = 0;
constexpr unsigned server_core = 1;

// A port that nobody uses at this moment.
std::uint16_t free_port() {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  (void)::bind(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address);
  (void)::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(descriptor);
  return ntohs(address.sin_port);
}

// Whether a PING is answered by a PONG. To connect proves less: Redis lets clients in while it
// still loads what an earlier one has kept, and refuses what they ask.
bool is_answering(std::uint16_t port) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  constexpr std::string_view ping = "PING\r\n";
  constexpr std::string_view pong = "+PONG";
  char answer[pong.size()] = {};
  const bool answers =
      ::connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
      ::send(descriptor, ping.data(), ping.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(ping.size()) &&
      ::recv(descriptor, answer, sizeof answer, MSG_WAITALL) ==
          static_cast<ssize_t>(sizeof answer) &&
      std::string_view(answer, sizeof answer) == pong;
  ::close(descriptor);
  return answers;
}

[[noreturn]] void fail(const Status& status) {
  std::fprintf(stderr, "resp: %s\n", std::string(status.message()).c_str());
  std::_Exit(1);
}

// What `remora serve` does, in this process.
[[noreturn]] void serve(Keeping keeping, const std::string& folder, std::uint16_t port) {
  PollLoop loop;
  const Result<std::unique_ptr<server::StopSignals>> signals = server::StopSignals::create(loop);
  if (!signals.ok()) {
    fail(signals.status());
  }
  server::Settings settings;
  settings.socket = folder + "/socket";
  settings.pool_bytes = pool_bytes;
  settings.pool = keeping == Keeping::none ? "" : folder + "/pool";
  settings.resp = fmt::format("127.0.0.1:{}", port);
  settings.resp_durability =
      keeping == Keeping::always ? resp::Durability::persistent : resp::Durability::asynchronous;
  const Result<std::unique_ptr<server::Daemon>> daemon =
      server::Daemon::open(loop, settings, "bench");
  if (!daemon.ok()) {
    fail(daemon.status());
  }
  const Status status = (*daemon)->serve(**signals);
  std::_Exit(status.ok() ? 0 : 1);
}

[[noreturn]] void become_redis(Keeping keeping, const std::string& folder, std::uint16_t port) {
  const std::string number = std::to_string(port);
  const char* const append = keeping == Keeping::none ? "no" : "yes";
  const char* const sync = keeping == Keeping::always ? "always" : "everysec";
  ::execlp("redis-server", "redis-server", "--port", number.c_str(), "--bind", "127.0.0.1", "--dir",
           folder.c_str(), "--save", "", "--appendonly", append, "--appendfsync", sync,
           "--loglevel", "warning", "--logfile", "redis.log", nullptr);
  std::_Exit(127);
}

// Where there is such a core; elsewhere the kernel chooses as ever.
void run_on(unsigned core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  (void)::sched_setaffinity(0, sizeof set, &set);
}

template <typename Body>
Result<pid_t> start(Cores cores, const Body& body) {
  return lab::fork_child("a store", [&] {
    if (cores == Cores::apart) {
      run_on(server_core);
    }
    body();
    return 0;
  });
}

// User and system time of all its threads.
double cpu_seconds(pid_t process) {
  clockid_t clock = 0;
  timespec time = {};
  if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &time) != 0) {
    return 0;
  }
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

}  // namespace

Result<std::unique_ptr<Contender>> Contender::redis(Keeping keeping, const std::string& folder,
                                                    Cores cores) {
  const std::uint16_t port = free_port();
  REMORA_TRY_RESULT(process, start(cores, [&] { become_redis(keeping, folder, port); }));
  std::unique_ptr<Contender> contender(new Contender(*process, port, cores));
  REMORA_TRY(contender->await_answer());
  return contender;
}

Result<std::unique_ptr<Contender>> Contender::remora(Keeping keeping, const std::string& folder,
                                                     Cores cores) {
  const std::uint16_t port = free_port();
  REMORA_TRY_RESULT(process, start(cores, [&] { serve(keeping, folder, port); }));
  std::unique_ptr<Contender> contender(new Contender(*process, port, cores));
  REMORA_TRY(contender->await_answer());
  return contender;
}

Contender::~Contender() {
  lab::end_child(process_);
}

Status Contender::await_answer() const {
  for (int tries = 0; tries < 1000; ++tries) {
    if (is_answering(port_)) {
      return {};
    }
    if (::waitpid(process_, nullptr, WNOHANG) != 0) {
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return Status(Code::not_found, "a server did not start; is redis-server installed?");
}

Result<Round> Contender::run(const std::string& command, std::uint64_t requests,
                             std::uint32_t clients, std::uint32_t pipeline,
                             std::uint32_t value_bytes, std::uint64_t keys) const {
  if (command == "multi") {
    return run_transactions(requests, clients, pipeline);
  }
  const std::string line = fmt::format(
      "{}redis-benchmark -h 127.0.0.1 -p {} -t {} -n {} -c {} -P {} -d {}{} --csv 2>/dev/null",
      cores_ == Cores::apart ? fmt::format("taskset -c {} ", client_core) : "", port_, command,
      requests, clients, pipeline, value_bytes, keys > 1 ? fmt::format(" -r {}", keys) : "");
  const double before = cpu_seconds(process_);
  std::FILE* const output = ::popen(line.c_str(), "r");
  if (output == nullptr) {
    return Status(Code::io_error, "redis-benchmark cannot be run");
  }
  char text[512];
  double rate = 0;
  while (std::fgets(text, sizeof text, output) != nullptr) {
    (void)std::sscanf(text, "\"%*[^\"]\",\"%lf\"", &rate);
  }
  if (::pclose(output) != 0 || rate == 0) {
    return Status(Code::io_error, "redis-benchmark failed; is redis-tools installed?");
  }
  const double spent = cpu_seconds(process_) - before;
  return Round{rate, spent * 1e6 / static_cast<double>(requests)};
}

// The load is in this process, on the core that redis-benchmark would have.
Result<Round> Contender::run_transactions(std::uint64_t transactions, std::uint32_t clients,
                                          std::uint32_t pipeline) const {
  cpu_set_t all;
  const bool moves = cores_ == Cores::apart && ::sched_getaffinity(0, sizeof all, &all) == 0;
  if (moves) {
    run_on(client_core);
  }
  const double before = cpu_seconds(process_);
  const Result<double> rate = transactions_per_second(port_, transactions, clients, pipeline);
  const double spent = cpu_seconds(process_) - before;
  if (moves) {
    (void)::sched_setaffinity(0, sizeof all, &all);
  }
  REMORA_TRY(rate.status());
  return Round{*rate, spent * 1e6 / static_cast<double>(transactions)};
}

}  // namespace remora::bench
