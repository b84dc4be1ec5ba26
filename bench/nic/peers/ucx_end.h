// One end of a UCT transport: its memory domain, a worker and an interface; on the target memory
// that peers may use, on the initiator an endpoint and the key of that memory.
//
// One thread. Every failure is a Status that names the call.
#pragma once

#include <uct/api/uct.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace remora::bench {

// What the initiator has to know of the target. The texts are as UCT packs them.
struct UcxAddress {
  std::array<std::byte, 128> device{};
  std::array<std::byte, 128> interface {};
  std::array<std::byte, 512> key{};
  std::uint64_t memory = 0;
};

class UcxEnd {
 public:
  // The transport's name is that of its memory domain too: "posix", "cma", "tcp".
  static Result<std::unique_ptr<UcxEnd>> open(const std::string& transport,
                                              const std::string& device = "memory");
  ~UcxEnd();
  UcxEnd(const UcxEnd&) = delete;
  UcxEnd& operator=(const UcxEnd&) = delete;

  // The target's part: memory of the transport's own, or memory of the caller's; once.
  Status allocate(std::size_t size_bytes);
  Status register_memory(Bytes memory);
  Bytes memory() const { return memory_; }
  Result<UcxAddress> address() const;

  // The initiator's part: an endpoint, and the key of the target's memory.
  Status connect(const UcxAddress& peer);
  uct_ep_h endpoint() const { return endpoint_; }
  uct_rkey_t key() const { return key_->rkey; }
  // The target's memory as it is mapped here, by a transport that does that.
  Result<std::byte*> mapped(std::uint64_t remote_address);

  void progress() { uct_worker_progress(worker_); }

 private:
  UcxEnd() = default;
  Status open_domain(const std::string& transport);
  Status open_interface(const std::string& transport, const std::string& device);

  uct_component_h component_ = nullptr;
  uct_md_h domain_ = nullptr;
  ucs_async_context_t* async_ = nullptr;
  uct_worker_h worker_ = nullptr;
  uct_iface_h interface_ = nullptr;
  uct_ep_h endpoint_ = nullptr;
  std::optional<uct_rkey_bundle_t> key_;
  std::optional<uct_allocated_memory_t> allocated_;
  uct_mem_h registered_ = nullptr;
  Bytes memory_;
};

// "uct_md_open: No such device".
Status ucx_failure(const char* call, ucs_status_t status);

}  // namespace remora::bench
