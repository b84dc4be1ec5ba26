// Partner: the far end of one queue pair under a fuzzer. It tells from what is said to it which of
// its requests were executed, does the same to the picture of the ground, and holds the queue pair
// to the rules: P8, R1 to R3, O4, F2 and F4 of fabric/queue_pair.h.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "fabric/nic/device/fuzz/ground.h"
#include "fabric/nic/device/fuzz/said.h"
#include "fabric/queue_pair.h"

namespace remora::fabric::nic::fuzz {

class Partner {
 public:
  // The queue pair is new, and its peer the queue pair `number` of the device `gid`.
  Partner(Ground& ground, std::unique_ptr<QueuePair> qp, const Asker& asker, QpNumber number,
          const Gid& gid, std::uint32_t mtu_bytes);

  QueuePair& qp() const { return *qp_; }
  const Asker& asker() const { return asker_; }
  QpNumber number() const { return number_; }
  PacketSequence expected() const { return expected_; }
  bool failed() const { return failed_; }
  bool has_receives() const { return !receives_.empty(); }
  // What is missing of the WRITE that is under way.
  std::uint32_t write_left() const { return open_ == Open::write ? length_ - done_ : 0; }

  // Begins anew, whatever has been.
  void reconnect();
  // A receive in these bytes of plot_receiving; or, not `usable`, in memory that is not for that.
  void post_receive(std::size_t offset, std::uint32_t size_bytes, bool usable);

  // The memory of those that are posted is not theirs any more.
  void lose_receives();

  // What the answers tell of the request that is expected next; false when they tell nothing.
  bool learn(const std::vector<Said>& all);
  // A packet that it has sent has been dealt with, and what was said was learned. It is judged
  // whether the right thing happened, and the picture changed by it.
  void judge(const Packet& packet, ConstBytes payload, const std::vector<Said>& all);
  // An answer, to whatever.
  void check_answer(const Packet& packet, ConstBytes payload);
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
  // A request that was executed and is answered by a response.
  struct Done {
    Packet packet;
    std::uint32_t packets = 1;
    std::uint64_t value_before = 0;
  };

  bool is_granted(const Packet& packet, std::uint64_t size_bytes, AccessFlags needed) const;
  bool is_granted_flush(const Packet& packet) const;
  static bool means_flush(const Packet& packet);
  bool is_granted_word(const Packet& packet, ConstBytes payload) const;
  // Whether nothing speaks against executing it.
  bool is_right(const Packet& packet, ConstBytes payload) const;
  std::uint32_t packets_of(const Packet& packet) const;
  void execute(const Packet& packet, ConstBytes payload);
  void execute_send(const Packet& packet, ConstBytes payload);
  void execute_write(const Packet& packet, ConstBytes payload);
  void execute_behind_flush(const Packet& packet, ConstBytes payload);
  void execute_word(const Packet& packet, ConstBytes payload);
  const Done* find(PacketSequence sequence) const;

  Ground& ground_;
  const std::unique_ptr<QueuePair> qp_;
  const Asker asker_;
  const QpNumber number_;
  const Gid gid_;
  const std::uint32_t mtu_bytes_;

  PacketSequence before_ = 0;  // expected, until something was learned
  PacketSequence expected_ = 0;
  bool failed_ = false;
  Open open_ = Open::none;
  RemoteKey key_ = 0;  // of the WRITE under way
  std::uint64_t address_ = 0;
  std::uint32_t length_ = 0;
  std::uint32_t done_ = 0;  // bytes of the message under way
  std::deque<Receive> receives_;
  std::uint64_t posted_ = 0;
  bool finished_ = false;  // a message, whose completion is to come
  std::vector<Done> answered_;
};

// What kind of packet this is.
bool is_request(PacketOpcode opcode);
bool is_send(PacketOpcode opcode);
bool is_write(PacketOpcode opcode);
bool has_immediate(PacketOpcode opcode);

}  // namespace remora::fabric::nic::fuzz
