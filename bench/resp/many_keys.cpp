// A million keys with times at the Redis port: what FLUSHALL leaves, and what other requests notice
// while they expire. Prints numbers; fails only where a reply is wrong.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "bench/resp/contender.h"

namespace remora::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::uint64_t keys = 1'000'000;
  std::uint64_t seconds = 10;  // over which they expire
  std::uint32_t rounds = 3;
  std::string keeping = "none";
  std::string folder = ".";
};

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "resp_keys: %s\n", why.c_str());
  std::exit(1);
}

double seconds_since(Clock::time_point begun) {
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

// A connection that blocks: a line asked, a reply read.
class Asker {
 public:
  explicit Asker(std::uint16_t port)
      : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int yes = 1;
    if (::connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        ::setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) != 0) {
      fail("cannot connect");
    }
  }
  Asker(const Asker&) = delete;
  Asker& operator=(const Asker&) = delete;
  ~Asker() { ::close(descriptor_); }

  void send(const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t sent = ::send(descriptor_, text.data() + at, text.size() - at, MSG_NOSIGNAL);
      if (sent <= 0) {
        fail("cannot send");
      }
      at += static_cast<std::size_t>(sent);
    }
  }
  // Up to the end of a line, without it.
  std::string line() {
    for (std::size_t end = 0; (end = in_.find("\r\n")) == in_.npos;) {
      char bytes[16'384];
      const ssize_t got = ::recv(descriptor_, bytes, sizeof bytes, 0);
      if (got <= 0) {
        fail("the server has hung up");
      }
      in_.append(bytes, static_cast<std::size_t>(got));
    }
    const std::size_t end = in_.find("\r\n");
    std::string line = in_.substr(0, end);
    in_.erase(0, end + 2);
    return line;
  }
  std::string ask(const std::string& command) {
    send(command + "\r\n");
    return line();
  }

 private:
  const int descriptor_;
  std::string in_;
};

// Sets all of them, each with a time that `milliseconds` gives.
template <typename Milliseconds>
void load(Asker& asker, std::uint64_t keys, const Milliseconds& milliseconds) {
  constexpr std::uint64_t batch = 1'000;
  for (std::uint64_t i = 0; i < keys; i += batch) {
    std::string text;
    for (std::uint64_t k = i; k < std::min(i + batch, keys); ++k) {
      text += fmt::format("SET key:{} value PX {}\r\n", k, milliseconds(k));
    }
    asker.send(text);
    for (std::uint64_t k = i; k < std::min(i + batch, keys); ++k) {
      if (const std::string reply = asker.line(); reply != "+OK") {
        fail("SET was answered with " + reply);
      }
    }
  }
}

struct Latency {
  double p50_us = 0;
  double p99_us = 0;
  double worst_us = 0;
  std::uint64_t requests = 0;
};

// GETs of one key, one after another, for so long.
Latency probe(Asker& asker, double seconds) {
  std::vector<double> took;
  for (const auto begun = Clock::now(); seconds_since(begun) < seconds;) {
    const auto asked = Clock::now();
    if (asker.ask("GET steady") != "$1" || asker.line() != "v") {
      fail("a key without a time is not there");
    }
    took.push_back(seconds_since(asked) * 1e6);
  }
  std::ranges::sort(took);
  const auto at = [&](double part) {
    return took[static_cast<std::size_t>(part * static_cast<double>(took.size() - 1))];
  };
  return {at(0.5), at(0.99), took.back(), took.size()};
}

void show(const char* when, const Latency& latency) {
  std::printf("  GETs %-17s p50 %7.1f us   p99 %7.1f us   worst %8.1f us   (%llu)\n", when,
              latency.p50_us, latency.p99_us, latency.worst_us,
              static_cast<unsigned long long>(latency.requests));
}

void flush_all(Asker& asker, std::uint64_t keys) {
  load(asker, keys, [](std::uint64_t) { return 3'600'000; });
  const std::string before = asker.ask("DBSIZE");
  const auto begun = Clock::now();
  if (const std::string reply = asker.ask("FLUSHALL"); reply != "+OK") {
    fail("FLUSHALL was answered with " + reply);
  }
  const double took_ms = seconds_since(begun) * 1e3;
  const std::string size = asker.ask("DBSIZE");
  std::this_thread::sleep_for(std::chrono::seconds(1));
  std::string cursor = "0";
  std::uint64_t trips = 0;
  do {
    asker.send("SCAN " + cursor + "\r\n");
    (void)asker.line();  // of two
    (void)asker.line();  // the size of the cursor
    cursor = asker.line();
    const std::uint64_t found = std::stoull(asker.line().substr(1));
    for (std::uint64_t i = 0; i < 2 * found; ++i) {
      (void)asker.line();
    }
    ++trips;
  } while (cursor != "0");
  std::printf(
      "  FLUSHALL of %s keys: %.1f ms, DBSIZE %s, SCAN a second later in %llu round trips\n",
      before.c_str() + 1, took_ms, size.c_str() + 1, static_cast<unsigned long long>(trips));
}

void expire(Asker& asker, Asker& prober, const Options& options) {
  if (asker.ask("SET steady v") != "+OK") {
    fail("SET failed");
  }
  const Latency idle = probe(prober, static_cast<double>(options.seconds) / 2);
  const auto begun = Clock::now();
  // None goes before all are there.
  constexpr std::uint64_t load_ms = 15'000;
  const auto since_ms = [&] { return static_cast<std::uint64_t>(seconds_since(begun) * 1e3); };
  load(asker, options.keys, [&](std::uint64_t key) {
    const std::uint64_t at_ms = load_ms + key * options.seconds * 1'000 / options.keys;
    return at_ms - std::min(at_ms - 1, since_ms());
  });
  const double loaded_s = seconds_since(begun);
  if (loaded_s * 1e3 > load_ms) {
    std::printf("  (setting the keys took %.1f s: some went before)\n", loaded_s);
  }
  while (since_ms() < load_ms) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const std::string before = asker.ask("DBSIZE");
  const Latency busy = probe(prober, static_cast<double>(options.seconds));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const std::string after = asker.ask("DBSIZE");
  show("idle", idle);
  show("while they expire", busy);
  std::printf("  p99 %.2f times that of idle; DBSIZE %s before, %s after\n",
              busy.p99_us / idle.p99_us, before.c_str() + 1, after.c_str() + 1);
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app("Many keys with times at the Redis port", "resp_keys");
  app.add_option("--keys", options.keys, "with times");
  app.add_option("--seconds", options.seconds, "over which they expire");
  app.add_option("--rounds", options.rounds, "of each");
  app.add_option("--keeping", options.keeping, "none: memory; soon: a file, asynchronous")
      ->check(CLI::IsMember({"none", "soon"}));
  app.add_option("--folder", options.folder, "for the file; on the disk that is to be measured");
  CLI11_PARSE(app, argc, argv);
  std::string folder = options.folder + "/resp-keys-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) {
    fail("cannot make a folder in " + options.folder);
  }
  const Keeping keeping = options.keeping == "none" ? Keeping::none : Keeping::soon;
  for (std::uint32_t round = 1; round <= options.rounds; ++round) {
    const Result<std::unique_ptr<Contender>> server = Contender::remora(keeping, folder);
    if (!server.ok()) {
      fail(std::string(server.status().message()));
    }
    Asker asker((*server)->port());
    Asker prober((*server)->port());
    std::printf("round %u, %s\n", round, options.keeping.c_str());
    flush_all(asker, options.keys);
    expire(asker, prober, options);
    std::fflush(stdout);
    std::error_code ignored;
    std::filesystem::remove(folder + "/pool", ignored);
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return 0;
}

}  // namespace
}  // namespace remora::bench

int main(int argc, char** argv) {
  return remora::bench::run(argc, argv);
}
