// For the tests of this wire: stations that keep all that they are told, folders that go away
// again, and peers in processes of their own. One thread.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/folder_testing.h"
#include "fabric/nic/wire/ring/ring_wire.h"
#include "runtime/poll_loop.h"

namespace remora::fabric::nic::ring {

// A wire with somebody behind it who polls it as a NIC would, and keeps all that it is told.
class Station final : public PacketSink, public LinkOwner, public Poller {
 public:
  explicit Station(PollLoop& loop, const RingWireOptions& options = {}) : loop_(loop) {
    Result<std::unique_ptr<RingWire>> made = RingWire::create(loop, this, options);
    REMORA_CHECK(made.ok(), "the test needs a wire");
    wire = std::move(*made);
    loop.add_poller(*this);
  }

  void receive(LinkId from, ConstBytes packet) override {
    packets.emplace_back(as_text(packet));
    if (on_packet) {
      on_packet(from);
    }
  }
  void link_down(LinkId link) override { downs.push_back(link); }
  Status admit(const HostPeer&) override { return admission; }
  void link_up(LinkId link, const HostPeer& peer) override {
    ups.push_back(link);
    peers.push_back(peer);
  }
  void control(LinkId, ConstBytes bytes) override { controls.emplace_back(as_text(bytes)); }
  void refused(const Status& status) override { refusals.push_back(status); }

  // The same with payload that may be lent; false when it may not be now.
  bool lend(LinkId link, const std::string& headers, ConstBytes payload) {
    bool later = false;
    const Bytes room = wire->lend(link, headers.size(), payload, later);
    if (room.empty()) {
      return false;
    }
    std::memcpy(room.data(), headers.data(), headers.size());
    wire->commit();
    wire->flush();
    return true;
  }

  bool poll() override { return polls_packets && wire->poll(*this, 64) > 0; }
  int wake_fd() const override { return wire->wake_fd(); }
  bool arm_wake() override { return wire->arm_wake(); }

  bool send(LinkId link, const std::string& packet, const std::string& rider = {}) {
    const Bytes room = wire->reserve_with(link, as_bytes(rider), packet.size());
    if (room.empty()) {
      return false;
    }
    std::memcpy(room.data(), packet.data(), packet.size());
    wire->commit();
    wire->flush();
    return true;
  }

  // Runs the loop until it holds. False when it does not for very long: then something hangs.
  bool run_until(const std::function<bool()>& holds) {
    const std::uint64_t hang_ns = loop_.now_ns() + 120'000'000'000;
    while (!holds()) {
      if (loop_.now_ns() > hang_ns) {
        return false;
      }
      loop_.run_for(1'000'000);
    }
    return true;
  }

  std::unique_ptr<RingWire> wire;
  std::vector<std::string> packets;
  std::vector<LinkId> ups;
  std::vector<HostPeer> peers;
  std::vector<LinkId> downs;  // told twice: by the NIC's side and by the owner's
  std::vector<std::string> controls;
  std::vector<Status> refusals;
  Status admission;
  std::function<void(LinkId)> on_packet;
  bool polls_packets = true;

 private:
  PollLoop& loop_;
};

// A process that runs the function, which need not end, and is killed at the latest with this. It
// must be made before the caller has sockets that the child should not keep open.
class Child {
 public:
  explicit Child(const std::function<void()>& body) : pid_(::fork()) {
    REMORA_CHECK(pid_ >= 0, "the test needs another process");
    if (pid_ == 0) {
      body();
      ::_exit(0);
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { kill(); }

  pid_t pid() const { return pid_; }
  void stop() {
    ::kill(pid_, SIGSTOP);
    int status = 0;
    ::waitpid(pid_, &status, WUNTRACED);
  }
  void resume() { ::kill(pid_, SIGCONT); }
  void kill() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      (void)wait();
    }
  }
  // How it ended: as waitpid has it.
  int wait() {
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return status;
  }

 private:
  pid_t pid_;
};

inline std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

// Mappings of links.
inline std::size_t link_mappings() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) {
    count += line.find("remora-link") != line.npos ? 1u : 0u;
  }
  return count;
}

}  // namespace remora::fabric::nic::ring
