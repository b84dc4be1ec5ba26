// Station: a device of its own on a wire between processes, and the memory that it registers. One
// kind per wire; the tests see nothing else of it. Adding a wire means one class in stations.cpp
// and one line in all_wires.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "fabric/device.h"
#include "fabric/nic/wire/ring/ring_wire.h"
#include "runtime/poll_loop.h"

namespace remora::fabric::lives {

class Station {
 public:
  virtual ~Station() = default;

  virtual Device& device() = 0;
  // What peers may reach; as many bytes as were asked for.
  virtual Bytes memory() = 0;
  // The region to register it with, if any.
  virtual Region* persistence() { return nullptr; }
  virtual int wake_fd() const = 0;

  virtual Status listen(const std::string& path) = 0;
  // Runs the loop until there is a link, or none to be had.
  virtual Result<nic::LinkId> connect(const std::string& path) = 0;
  virtual Status send_control(nic::LinkId link, ConstBytes bytes) = 0;
  virtual void cut_off(nic::LinkId link) = 0;
  // Links that still take memory and descriptors.
  virtual std::size_t links() const = 0;

  // Where requests are executed by this side itself, on the peer's memory: called in the middle of
  // each. False where there are none.
  virtual bool call_inside(const std::function<void()>&) { return false; }
  // Peers that were ended because they stood still in the middle of that.
  virtual std::uint64_t ended() const { return 0; }
};

struct WireKind {
  std::string name;
  bool has_short_cut;  // requests that do not go by the wire
  // Loop and owner outlive the station.
  std::function<std::unique_ptr<Station>(PollLoop& loop, nic::LinkOwner& owner,
                                         std::size_t memory_bytes)>
      make;
};

// What GoogleTest prints of one.
inline void PrintTo(const WireKind& kind, std::ostream* out) {
  *out << kind.name;
}

const std::vector<WireKind>& all_wires();

}  // namespace remora::fabric::lives
