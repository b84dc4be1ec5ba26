// StoreLink: a process's way to a StoreHost, on the same machine or across the network, and the
// StoreClient at its end.
//
//   Result<std::unique_ptr<StoreLink>> link = co_await StoreLink::connect(loop, path);
//   Status status = co_await (*link)->store().put(key, value);
//
// When the host goes, every operation fails with `closed`, for good: connect anew.
//
// One thread, the loop's. The loop outlives the link. No operation is in flight when the link goes.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "kv/store.h"
#include "link/session_link.h"

namespace remora::link {

// The design is the engine that it must be.
struct StoreLinkOptions : SessionOptions {
  // Where it does not say how values travel, small ones are put within requests on this machine.
  kv::ClientOptions client = {.verified_bytes = kv::verified_by_client_bytes,
                              .connect = patient_connect};
};

class StoreLink final {
 public:
  // Fails as SessionLink::connect, and with what the host says of this client.
  static Task<Result<std::unique_ptr<StoreLink>>> connect(Runtime& runtime, std::string path,
                                                          StoreLinkOptions options = {});

  kv::StoreClient& store() { return *store_; }
  const kv::Engine& engine() const { return *engine_; }
  const std::string& role() const { return session_->role(); }
  Task<Result<Facts>> stat() { return session_->stat(); }
  Task<Result<Facts>> stop() { return session_->stop(); }
  Task<Result<Facts>> scrub() { return session_->scrub(); }
  Task<Result<Facts>> grow(std::uint64_t size_bytes, std::string pool_file = {}) {
    return session_->grow(size_bytes, std::move(pool_file));
  }
  // Which way requests go, found out by making some: `mapped` when this process works on the pool
  // by itself, `ring` when the host does it; `roce` across the network. Of the software RNIC.
  Task<WireKind> wire_taken();
  // The RDMA device that they go by instead, if it is so.
  const fabric::Device* rdma() const { return session_->rdma(); }
  Host host() { return session_->host(); }
  fabric::DeviceCounters counters() const { return session_->counters(); }

 private:
  StoreLink(Runtime& runtime, std::unique_ptr<SessionLink> session, const kv::Engine& engine)
      : runtime_(runtime), session_(std::move(session)), engine_(&engine) {}
  Task<Status> join(kv::ClientOptions options);

  Runtime& runtime_;
  // Members are destroyed from the last to the first.
  std::unique_ptr<SessionLink> session_;
  const kv::Engine* engine_;
  std::unique_ptr<kv::StoreClient> store_;
};

}  // namespace remora::link
