// ServedObjects: `remora serve` in a process of its own, with many small objects in its store. It
// ends with this object, and with its parent. Blocks; runs a loop on the caller's thread.
// REMORA_COMMAND comes from the build.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "lab/lives/server_process.h"
#include "link/store_link.h"
#include "runtime/poll_loop.h"

namespace remora::bench {

class ServedObjects {
 public:
  static constexpr std::size_t value_bytes = 64;

  // `pool` is a path, or empty for memory. Where it listens on the network too, that is for
  // another() alone.
  ServedObjects(std::string folder, std::string pool, bool listens = false);

  // Starts the server, on what the pool holds, and connects to it. Fails with what it complained
  // of.
  Status start();
  // Puts so many objects, and waits until the server has made them persistent.
  Status fill(std::uint64_t objects);
  // Waits until the server has made all that was put persistent.
  Status rest();
  // One more client of the server, on that wire and on a loop of its own.
  Result<std::unique_ptr<link::StoreLink>> another(PollLoop& loop, link::WireKind wire,
                                                   kv::VerifyReads policy);
  // kill -9, in the middle of whatever it does.
  void kill();

  static std::string name_of(std::uint64_t number);
  // Whether that object is there and has the value that was put.
  Status look(std::uint64_t number);
  // What the server tells of itself, as a number.
  Result<std::uint64_t> told(const char* name);

  PollLoop& loop() { return loop_; }
  link::StoreLink& link() { return *link_; }
  pid_t pid() const { return server_->pid(); }

 private:
  Task<Status> put_some(std::uint64_t& next, std::uint64_t end);

  const std::string folder_;
  const std::string pool_;
  const std::string token_;  // empty: it does not listen
  std::uint16_t port_ = 0;
  PollLoop loop_;
  std::optional<lab::ServerProcess> server_;
  std::unique_ptr<link::StoreLink> link_;
};

}  // namespace remora::bench
