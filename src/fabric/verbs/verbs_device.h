// VerbsDevice: an RDMA device that libibverbs lists, RoCE or InfiniBand, behind the contract of
// fabric/device.h. Connections are by the GIDs, numbers and first packets that the two sides tell
// each other.
//
// What the device cannot do itself is done in another way, chosen when it is opened, and said in
// its attributes (methods.h). Where that way cannot keep a sentence of fabric/queue_pair.h:
// - FLUSH by read-after-write is a READ: it needs the right remote_read, and asks for no right to
//   flush (R1); whether bytes are persistent then is the platform's (P6).
// - Unsignalled requests leave the queue when a completion after them was polled. The adapter asks
//   for one now and then, and keeps it to itself: whoever posts must poll, too.
//
// One thread, that of the loop. Posting and polling do not allocate; connecting, failing and asking
// for the state are system calls.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "fabric/device.h"
#include "fabric/verbs/methods.h"
#include "runtime/runtime.h"

namespace remora::fabric::verbs {

struct VerbsOptions {
  std::string device = {};  // its name, as ibv_devices has it; empty: the first with an active port
  std::uint8_t port = 0;    // 0: the first that is active
  std::optional<std::uint32_t> gid_index = {};  // the best unless given; see choose_gid
  std::uint32_t mtu_bytes = 0;  // at most; the port's unless given. Both sides need the same.
  std::optional<FlushMethod> flush = {};  // native where it is there unless given
  // Queue pairs that one peer may break by what it asks for, before it is refused.
  std::uint32_t access_violation_limit = 16;
};

// From "verbs", "verbs:DEVICE" or "verbs:DEVICE/PORT", as users name a wire; nothing when the text
// is none of these.
std::optional<VerbsOptions> parse_wire(const std::string& text);

class Context;

class VerbsDevice final : public Device {
 public:
  // Fails with unsupported where there is no device (the message says how to make one), with
  // not_found for a name or an index that is not there.
  static Result<std::unique_ptr<VerbsDevice>> open(const VerbsOptions& options);
  ~VerbsDevice() override;

  const DeviceAttributes& attributes() const override;
  const Methods& methods() const;
  // Packets are those of the port, whoever sent them.
  DeviceCounters counters() const override;
  std::unique_ptr<ProtectionDomain> create_domain() override;
  Result<std::unique_ptr<CompletionQueue>> create_completion_queue(std::uint32_t capacity) override;

  // From now on this loop, when it sleeps, wakes when there are completions in any of the device's
  // queues. Without that, whoever waits for completions must keep polling.
  void wake(Runtime& loop);

  // Every queue pair goes to reset: to its peers this side is mute from now on.
  void fall_silent();

 private:
  explicit VerbsDevice(std::unique_ptr<Context> context);

  std::unique_ptr<Context> context_;
};

}  // namespace remora::fabric::verbs
