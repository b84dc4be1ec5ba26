// Contender: a server that redis-benchmark is run against, in a process of its own: Redis, or ours.
// It ends with this object, and with its parent.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace remora::bench {

// What becomes of a write: nothing is kept; it is kept within a second or so; it is kept before it
// is acknowledged.
enum class Keeping : std::uint8_t { none, soon, always };

struct Round {
  double per_second = 0;  // operations
  double cpu_us = 0;      // of the server, for one operation
};

// Where server and redis-benchmark run: wherever the kernel puts them, or each on a core of its
// own. Whether they share one changes the CPU time of a request by half, and the kernel chooses
// anew for each run.
enum class Cores : std::uint8_t { any, apart };

class Contender {
 public:
  // `folder` is its own, for files.
  static Result<std::unique_ptr<Contender>> redis(Keeping keeping, const std::string& folder,
                                                  Cores cores = Cores::any);
  static Result<std::unique_ptr<Contender>> remora(Keeping keeping, const std::string& folder,
                                                   Cores cores = Cores::any);
  Contender(const Contender&) = delete;
  Contender& operator=(const Contender&) = delete;
  ~Contender();

  std::uint16_t port() const { return port_; }

  // One run of redis-benchmark, with values of that size, on so many keys by chance; or of "multi":
  // transactions of eight SETs (transactions.h), which it does not have.
  Result<Round> run(const std::string& command, std::uint64_t requests, std::uint32_t clients,
                    std::uint32_t pipeline, std::uint32_t value_bytes = 3,
                    std::uint64_t keys = 1) const;

 private:
  Contender(pid_t process, std::uint16_t port, Cores cores)
      : process_(process), port_(port), cores_(cores) {}
  Status await_answer() const;
  Result<Round> run_transactions(std::uint64_t transactions, std::uint32_t clients,
                                 std::uint32_t pipeline) const;

  const pid_t process_;
  const std::uint16_t port_;
  const Cores cores_;
};

}  // namespace remora::bench
