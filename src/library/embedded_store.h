// EmbeddedStore: a store host in this process, for a store that nobody else uses. Its socket lies
// in a folder of its own that only this user can enter, and goes with it.
//
// One thread, the loop's. The loop outlives it.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "runtime/runtime.h"
#include "server/store_host.h"

namespace remora {

class EmbeddedStore {
 public:
  // `options` says everything but the socket.
  static Result<std::unique_ptr<EmbeddedStore>> open(Runtime& runtime,
                                                     server::StoreHostOptions options);
  EmbeddedStore(const EmbeddedStore&) = delete;
  EmbeddedStore& operator=(const EmbeddedStore&) = delete;
  // Runs the loop until all that was acknowledged is persistent, for a bounded time.
  ~EmbeddedStore();

  const std::string& socket_path() const { return socket_path_; }
  server::StoreHost& host() { return *host_; }

 private:
  explicit EmbeddedStore(Runtime& runtime) : runtime_(runtime) {}

  Runtime& runtime_;
  std::string folder_;
  std::string socket_path_;
  std::unique_ptr<server::StoreHost> host_;
};

}  // namespace remora
