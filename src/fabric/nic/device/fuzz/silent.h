// Silent: the far end of an unreliable connection, or of datagrams, under a fuzzer. Nobody tells
// what became of its packets, and nobody has to: by U3 to U10 of fabric/queue_pair.h each of them
// does one thing, which is done to the picture of the ground and expected of the completions.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "fabric/nic/device/fuzz/ground.h"
#include "fabric/nic/packet/packet.h"
#include "fabric/queue_pair.h"

namespace remora::fabric::nic::fuzz {

inline constexpr QueueKey silent_key = 0x00c0'ffee;

class Silent {
 public:
  // The queue pair is new; its peer, if it has one, is the queue pair `number` of the device `gid`.
  Silent(Ground& ground, std::unique_ptr<QueuePair> qp, Transport transport, const Asker& asker,
         QpNumber number, const Gid& gid, const Gid& own, std::uint32_t mtu_bytes);

  QueuePair& qp() const { return *qp_; }
  Transport transport() const { return transport_; }
  PacketSequence expected() const { return expected_; }
  std::uint32_t write_left() const { return open_ == Open::write ? length_ - done_ : 0; }

  // Begins anew, whatever has been.
  void reconnect();
  // A receive in these bytes of plot_receiving; or, not `usable`, in memory that is not for that.
  void post_receive(std::size_t offset, std::uint32_t size_bytes, bool usable);
  // The memory of those that are posted is not theirs any more.
  void lose_receives();

  // This packet has arrived. Returns whether it breached a right.
  bool judge(const Packet& packet, ConstBytes payload);
  // A completion of one of its receives.
  void take(const WorkCompletion& completion);
  // When all completions were taken.
  void check_state();

 private:
  enum class Open : std::uint8_t { none, send, write };
  struct Receive {
    std::uint64_t id = 0;
    std::size_t offset = 0;
    std::uint32_t size_bytes = 0;
    bool usable = true;
  };

  bool judge_connection(const Packet& packet, ConstBytes payload);
  void judge_datagram(const Packet& packet, ConstBytes payload);
  void send(const Packet& packet, ConstBytes payload, bool last);
  bool store(std::uint32_t into, ConstBytes payload);
  void finish(const Packet& packet, std::uint32_t size_bytes);

  Ground& ground_;
  const std::unique_ptr<QueuePair> qp_;
  const Transport transport_;
  const Asker asker_;
  const QpNumber number_;
  const Gid gid_;
  const Gid own_;
  const std::uint32_t mtu_bytes_;

  PacketSequence expected_ = 0;
  Open open_ = Open::none;
  RemoteKey key_ = 0;  // of the WRITE under way
  std::uint64_t address_ = 0;
  std::uint32_t length_ = 0;
  std::uint32_t done_ = 0;  // bytes of the message under way
  std::deque<Receive> receives_;
  std::deque<WorkCompletion> told_;  // completions that are to come
  std::uint64_t posted_ = 0;
  bool failed_ = false;
};

}  // namespace remora::fabric::nic::fuzz
