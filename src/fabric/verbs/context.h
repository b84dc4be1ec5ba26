// Context: what is inside a VerbsDevice: the open device, its port and address, the methods chosen,
// and the queue pairs by the slots that names of requests tell.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fabric/device.h"
#include "fabric/verbs/device_list.h"
#include "fabric/verbs/gid_choice.h"
#include "fabric/verbs/methods.h"
#include "fabric/verbs/verbs_device.h"

namespace remora::fabric::verbs {

class Completions;
class EventChannel;
class Qp;
class SharedQueue;

class Context {
 public:
  static Result<std::unique_ptr<Context>> open(const VerbsOptions& options);
  ~Context();

  ibv_context* device() const { return device_.get(); }
  const DeviceAttributes& attributes() const { return attributes_; }
  const Methods& methods() const { return methods_; }
  std::uint8_t port() const { return options_.port; }
  std::uint32_t gid_index() const { return gid_.index; }
  bool is_infiniband() const { return port_.link_layer == IBV_LINK_LAYER_INFINIBAND; }
  // Whether peers can be given rights to FLUSH, however this side does so.
  bool grants_flush() const { return facts_.device_flushes; }
  // Whether memory can be registered without pinning it.
  bool pages_on_demand() const { return pages_on_demand_; }
  DeviceCounters counters() const;
  void count_request() { ++requests_; }

  // A slot for it, or nothing when all are taken.
  struct Place {
    std::uint16_t slot;
    std::uint16_t generation;
  };
  std::optional<Place> add(Qp& qp);
  void remove(std::uint16_t slot);
  // The same of shared receive queues, which have slots of their own.
  std::optional<std::uint16_t> add(SharedQueue& queue);
  void remove_shared(std::uint16_t slot) { shared_[slot] = nullptr; }
  SharedQueue* find_shared(std::uint16_t slot) const {
    return slot < shared_.size() ? shared_[slot] : nullptr;
  }
  // The queue pair of this number, of those that are there.
  Qp* find_number(QpNumber number) const;
  // Names that were given out for this slot mean nothing from now on; returns the new generation.
  std::uint16_t renew(std::uint16_t slot);
  Qp* find(std::uint16_t slot, std::uint16_t generation) const {
    return slot < slots_.size() && slots_[slot].generation == generation ? slots_[slot].qp
                                                                         : nullptr;
  }
  template <typename Visit>
  void for_each(Visit visit) {
    for (const Slot& slot : slots_) {
      if (slot.qp != nullptr) {
        visit(*slot.qp);
      }
    }
  }

  // A queue pair of this peer broke by what the peer asked for.
  void violated(const Gid& peer);
  bool is_refused(const Gid& peer) const;

  // Events of all its completion queues.
  EventChannel& events() { return *events_; }

  // Takes what the device told on its own account: queues that overran.
  void take_events();

 private:
  struct Slot {
    Qp* qp = nullptr;
    std::uint16_t generation = 0;
  };

  Context(OpenContext device, const VerbsOptions& options);
  Status look();
  Status look_for_gid();
  std::uint32_t largest_inline() const;
  bool knows_ring() const;

  OpenContext device_;
  const VerbsOptions options_;
  std::unique_ptr<EventChannel> events_;
  ibv_port_attr port_ = {};
  GidEntry gid_;
  MethodFacts facts_;
  Methods methods_;
  DeviceAttributes attributes_;
  bool pages_on_demand_ = false;
  std::vector<Slot> slots_;
  std::vector<SharedQueue*> shared_;
  std::size_t queue_pairs_ = 0;
  std::map<Gid, std::uint32_t> violations_;
  std::uint64_t violation_count_ = 0;
  std::uint64_t requests_ = 0;
};

}  // namespace remora::fabric::verbs
