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

class Contender {
 public:
  // `folder` is its own, for files.
  static Result<std::unique_ptr<Contender>> redis(Keeping keeping, const std::string& folder);
  static Result<std::unique_ptr<Contender>> remora(Keeping keeping, const std::string& folder);
  Contender(const Contender&) = delete;
  Contender& operator=(const Contender&) = delete;
  ~Contender();

  // One run of redis-benchmark, with values of that size.
  Result<Round> run(const std::string& command, std::uint64_t requests, std::uint32_t clients,
                    std::uint32_t pipeline, std::uint32_t value_bytes = 3) const;

 private:
  Contender(pid_t process, std::uint16_t port) : process_(process), port_(port) {}
  Status await_answer() const;

  const pid_t process_;
  const std::uint16_t port_;
};

}  // namespace remora::bench
