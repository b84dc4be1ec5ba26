#include "tests/fabric/two_networks.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "base/check.h"

namespace remora::fabric::contract {

namespace {

// What the command says when it fails.
Status run_command(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) {
    return os_failure("cannot run " + command, errno);
  }
  std::string said;
  std::array<char, 256> part;
  while (std::fgets(part.data(), part.size(), pipe) != nullptr) {
    said += part.data();
  }
  if (pclose(pipe) == 0) {
    return {};
  }
  while (said.ends_with('\n')) {
    said.pop_back();
  }
  return Status(Code::unsupported, fmt::format("`{}` says: {}", command, said));
}

// In the network that this thread is in.
Status lose_some(unsigned per_1000) {
  return run_command(
      fmt::format("nft 'add table inet loss; "
                  "add chain inet loss arriving {{ type filter hook input priority 0; }}; "
                  "add rule inet loss arriving meta l4proto udp numgen random mod 1000 < {} drop'",
                  per_1000));
}

}  // namespace

Result<std::unique_ptr<TwoNetworks>> TwoNetworks::create(const Shaping& shaping) {
  std::unique_ptr<TwoNetworks> networks(new TwoNetworks());
  const Status status = networks->set_up(shaping);
  if (networks->home_ >= 0) {
    REMORA_CHECK(setns(networks->home_, CLONE_NEWNET) == 0, "cannot go back to the own network");
  }
  if (!status.ok()) {
    return status;
  }
  return networks;
}

TwoNetworks::~TwoNetworks() {
  for (const int descriptor : {home_, near_, far_, router_}) {
    if (descriptor >= 0) {
      close(descriptor);
    }
  }
}

Status TwoNetworks::new_network(int& descriptor) const {
  if (unshare(CLONE_NEWNET) != 0) {
    return os_failure("cannot make a network namespace (that takes root)", errno);
  }
  descriptor = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
  return descriptor >= 0 ? Status() : os_failure("cannot keep a network namespace", errno);
}

Status TwoNetworks::set_up(const Shaping& shaping) {
  home_ = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
  if (home_ < 0) {
    return os_failure("cannot tell the own network namespace", errno);
  }
  REMORA_TRY(new_network(near_));
  REMORA_TRY(new_network(far_));
  REMORA_TRY(shaping.router_mtu == 0 ? lay_cable() : put_router(shaping.router_mtu));
  const auto finish = [&](const char* device, const char* address, unsigned mtu) -> Status {
    REMORA_TRY(run_command(fmt::format("ip address add {}/24 dev {}", address, device)));
    // The system cuts large datagrams itself then, as for a card that cannot: what the other end
    // gets are single packets.
    REMORA_TRY(run_command(fmt::format("ip link set {} gso_max_segs 1", device)));
    if (mtu != 0) {
      REMORA_TRY(run_command(fmt::format("ip link set {} mtu {}", device, mtu)));
    }
    REMORA_TRY(run_command(fmt::format("ip link set {} up", device)));
    if (shaping.lost_per_1000 != 0) {
      REMORA_TRY(lose_some(shaping.lost_per_1000));
    }
    return shaping.queue.empty()
               ? Status()
               : run_command(fmt::format("tc qdisc add dev {} root {}", device, shaping.queue));
  };
  REMORA_TRY(enter(far_));
  REMORA_TRY(finish("far", far_address, shaping.far_mtu));
  REMORA_TRY(enter(near_));
  REMORA_TRY(finish("near", near_address, shaping.near_mtu));
  return shaping.route_mtu == 0 ? Status()
                                : run_command(fmt::format("ip route add {}/32 dev near mtu {}",
                                                          far_address, shaping.route_mtu));
}

Status TwoNetworks::enter(int network) const {
  return setns(network, CLONE_NEWNET) == 0 ? Status()
                                           : os_failure("cannot enter a network namespace", errno);
}

Status TwoNetworks::lay_cable() const {
  REMORA_TRY(run_command("ip link add far type veth peer name near"));
  return run_command(fmt::format("ip link set near netns /proc/{}/fd/{}", getpid(), near_));
}

// The router answers for each end to the other, so that both are set up as on one cable.
Status TwoNetworks::put_router(unsigned mtu) {
  REMORA_TRY(new_network(router_));
  const auto connect = [&](const char* end, int network, const char* address) -> Status {
    REMORA_TRY(
        run_command(fmt::format("ip link add to_{0} mtu 9000 type veth peer name {0}", end)));
    REMORA_TRY(
        run_command(fmt::format("ip link set {} netns /proc/{}/fd/{}", end, getpid(), network)));
    REMORA_TRY(run_command(fmt::format("ip address add 10.77.0.254/32 dev to_{}", end)));
    REMORA_TRY(run_command(fmt::format("ip link set to_{} up", end)));
    REMORA_TRY(
        run_command(fmt::format("echo 0 > /proc/sys/net/ipv4/neigh/to_{}/proxy_delay", end)));
    return run_command(fmt::format("ip route add {}/32 dev to_{} mtu lock {}", address, end, mtu));
  };
  REMORA_TRY(connect("near", near_, near_address));
  REMORA_TRY(connect("far", far_, far_address));
  REMORA_TRY(run_command("echo 1 > /proc/sys/net/ipv4/conf/all/proxy_arp"));
  return run_command("echo 1 > /proc/sys/net/ipv4/ip_forward");
}

void TwoNetworks::in(int network, const std::function<void()>& what) const {
  REMORA_CHECK(setns(network, CLONE_NEWNET) == 0, "cannot enter a network namespace");
  what();
  REMORA_CHECK(setns(home_, CLONE_NEWNET) == 0, "cannot go back to the own network");
}

}  // namespace remora::fabric::contract
