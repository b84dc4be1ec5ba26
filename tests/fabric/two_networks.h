// TwoNetworks: two network namespaces of this process with a pair of virtual Ethernet interfaces
// between them, as two machines on one cable, or on either side of a router. Needs root and the
// commands `ip`, `tc` and `nft`. They are gone with this object, however the process ends.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"

namespace remora::fabric::contract {

// What makes the cable worse than it is. An MTU of 0 is what the system gives.
struct Shaping {
  std::string queue = {};      // what `tc qdisc add dev DEVICE root` is told for both ends
  unsigned lost_per_1000 = 0;  // of the datagrams that arrive, by chance
  unsigned near_mtu = 0;       // of the interfaces
  unsigned far_mtu = 0;
  unsigned route_mtu = 0;  // of near's route to far; far knows nothing of it
  // Not 0: a router is between the two, lets no larger packets pass, and says so to the sender.
  unsigned router_mtu = 0;

  bool none() const { return queue.empty() && lost_per_1000 == 0; }
};

class TwoNetworks {
 public:
  static constexpr const char* near_address = "10.77.0.1";
  static constexpr const char* far_address = "10.77.0.2";

  // The failure says what this machine does not permit.
  static Result<std::unique_ptr<TwoNetworks>> create(const Shaping& shaping);
  TwoNetworks(const TwoNetworks&) = delete;
  TwoNetworks& operator=(const TwoNetworks&) = delete;
  ~TwoNetworks();

  // Runs it in that network: sockets that it makes stay there.
  void in_near(const std::function<void()>& what) const { in(near_, what); }
  void in_far(const std::function<void()>& what) const { in(far_, what); }

 private:
  TwoNetworks() = default;
  void in(int network, const std::function<void()>& what) const;
  Status set_up(const Shaping& shaping);
  Status new_network(int& descriptor) const;
  Status lay_cable() const;
  Status put_router(unsigned mtu);
  Status enter(int network) const;

  int home_ = -1;
  int near_ = -1;
  int far_ = -1;
  int router_ = -1;
};

}  // namespace remora::fabric::contract
