// Random requests in both directions over wires that lose, double, delay and reorder: every byte
// and every completion must be as if nothing of that had happened.
#include <gtest/gtest.h>

#include <deque>

#include "fabric/nic/device/testing/two_nics.h"

namespace remora::fabric::nic {
namespace {

constexpr std::size_t slot_bytes = 2048;
constexpr std::size_t slot_count = 64;                         // local buffers, one per request
constexpr std::size_t receive_base = slot_bytes * slot_count;  // buffers of receives
constexpr std::size_t target_base = receive_base * 2;          // what the peer works on
constexpr std::size_t target_bytes = 8192;
constexpr std::size_t memory_bytes = target_base + target_bytes;

// One direction: requests of `from`, and what they must lead to at `to`.
class Direction {
 public:
  Direction(Side& from, Side& to, std::uint64_t seed)
      : from_(from), to_(to), random_(seed), model_(target_bytes) {}

  void step() {
    if (receives_posted_ - receives_seen_ < slot_count / 2 && random_.chance(2, 3)) {
      post_receive();
    }
    if (in_flight_.size() < slot_count / 2 && posted_ < 120) {
      post();
    }
    collect();
  }

  bool is_finished() const { return posted_ == 120 && in_flight_.empty() && messages_.empty(); }

  void check_memory() const {
    EXPECT_TRUE(std::ranges::equal(model_, to_.at(target_base, target_bytes)));
  }

 private:
  struct Request {
    std::uint64_t id;
    bool signalled;
    Opcode opcode;
    std::size_t slot;
    std::size_t target = 0;
    std::vector<std::byte> expected = {};  // in the slot, after completion
  };
  struct Message {
    std::vector<std::byte> bytes;  // of a SEND
    bool has_immediate;
    std::uint32_t immediate;
    std::uint32_t size_bytes;
  };

  std::vector<std::byte> random_bytes(std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::byte& byte : bytes) {
      byte = static_cast<std::byte>(random_.next());
    }
    return bytes;
  }

  void post_receive() {
    const std::size_t offset = receive_base + receives_posted_ % slot_count * slot_bytes;
    ASSERT_TRUE(to_.receive(receives_posted_,
                            {to_.piece(offset, 700), to_.piece(offset + 700, slot_bytes - 700)})
                    .ok());
    ++receives_posted_;
  }

  bool overlaps_a_read(std::size_t target, std::size_t size) const {
    return std::ranges::any_of(in_flight_, [&](const Request& request) {
      return request.opcode == Opcode::read && request.target < target + size &&
             target < request.target + request.expected.size();
    });
  }

  void post() {
    constexpr Opcode opcodes[] = {Opcode::send,      Opcode::send_imm,     Opcode::write,
                                  Opcode::write_imm, Opcode::read,         Opcode::compare_swap,
                                  Opcode::fetch_add, Opcode::atomic_write, Opcode::flush};
    Request request = {.id = posted_,
                       .signalled = random_.chance(3, 4) || posted_ == 119,
                       .opcode = opcodes[random_.below(std::size(opcodes))],
                       .slot = posted_ % slot_count * slot_bytes};
    std::size_t size = random_.chance(1, 4) ? random_.below(16) : random_.below(slot_bytes);
    const bool is_word = changes_word(request.opcode);
    if (is_word) {
      size = 8;
    }
    request.target =
        random_.below((target_bytes - size) / 8) * 8 + (is_word ? 0 : random_.below(8));
    SendWork work = {.id = request.id,
                     .opcode = request.opcode,
                     .signalled = request.signalled,
                     .remote = to_.remote(target_base + request.target),
                     .immediate = static_cast<std::uint32_t>(random_.next()),
                     .flush_bytes = static_cast<std::uint32_t>(size),
                     .flush_placement = FlushPlacement::visibility};
    const Sge piece = from_.piece(request.slot, size);
    work.pieces = std::span(&piece, 1);
    const std::vector<std::byte> bytes = random_bytes(size);
    std::ranges::copy(bytes, from_.at(request.slot, size).begin());
    apply(request, work, bytes);
    ASSERT_TRUE(from_.send(work).ok());
    in_flight_.push_back(std::move(request));
    ++posted_;
  }

  // What the request does, and must return.
  void apply(Request& request, SendWork& work, const std::vector<std::byte>& bytes) {
    // A READ that is answered again is answered from memory, as it then is.
    work.fence = overlaps_a_read(request.target, bytes.size());
    std::byte* word = model_.data() + request.target;
    const auto before = [&] { return std::vector<std::byte>(word, word + 8); };
    switch (request.opcode) {
      case Opcode::write:
      case Opcode::write_imm:
        std::ranges::copy(bytes, word);
        if (request.opcode == Opcode::write_imm) {
          messages_.push_back({{}, true, work.immediate, static_cast<std::uint32_t>(bytes.size())});
        }
        break;
      case Opcode::send:
      case Opcode::send_imm: {
        const bool imm = request.opcode == Opcode::send_imm;
        messages_.push_back(
            {bytes, imm, imm ? work.immediate : 0, static_cast<std::uint32_t>(bytes.size())});
        break;
      }
      case Opcode::read:
        request.expected.assign(word, word + bytes.size());
        break;
      case Opcode::compare_swap:
        request.expected = before();
        work.operand = random_.next();
        work.compare = random_.chance(1, 2) ? load<std::uint64_t>(word) : random_.next();
        if (work.compare == load<std::uint64_t>(word)) {
          store(word, work.operand);
        }
        break;
      case Opcode::fetch_add:
        request.expected = before();
        work.operand = random_.next();
        store(word, load<std::uint64_t>(word) + work.operand);
        break;
      case Opcode::atomic_write:
        work.operand = random_.next();
        work.pieces = {};
        store(word, work.operand);
        break;
      default:
        work.pieces = {};
        break;
    }
  }

  void collect() {
    for (const WorkCompletion& completion : from_.sent()) {
      ASSERT_EQ(completion.status, WorkStatus::success) << to_string(completion.opcode);
      while (!in_flight_.empty() && in_flight_.front().id <= completion.id) {
        const Request& request = in_flight_.front();
        ASSERT_TRUE(request.id == completion.id || !request.signalled);
        EXPECT_TRUE(
            std::ranges::equal(request.expected, from_.at(request.slot, request.expected.size())))
            << "request " << request.id << " " << to_string(request.opcode);
        in_flight_.pop_front();
      }
    }
    for (const WorkCompletion& completion : to_.received()) {
      ASSERT_EQ(completion.status, WorkStatus::success);
      ASSERT_EQ(completion.id, receives_seen_);
      ASSERT_FALSE(messages_.empty());
      const Message& message = messages_.front();
      EXPECT_EQ(completion.has_immediate, message.has_immediate);
      EXPECT_EQ(completion.size_bytes, message.size_bytes);
      if (message.has_immediate) {
        EXPECT_EQ(completion.immediate, message.immediate);
      }
      const std::size_t offset = receive_base + receives_seen_ % slot_count * slot_bytes;
      EXPECT_TRUE(std::ranges::equal(message.bytes, to_.at(offset, message.bytes.size())));
      messages_.pop_front();
      ++receives_seen_;
    }
  }

  Side& from_;
  Side& to_;
  Random random_;
  std::vector<std::byte> model_;
  std::deque<Request> in_flight_;
  std::deque<Message> messages_;
  std::uint64_t posted_ = 0;
  std::uint64_t receives_posted_ = 0;
  std::uint64_t receives_seen_ = 0;
};

TestWire::Choose trouble(std::uint64_t seed, std::uint64_t percent) {
  auto random = std::make_shared<Random>(seed);
  return [random, percent](const Packet&) {
    Fate fate;
    const auto delay = [&] {
      return random->chance(percent, 100) ? random->below(20'000) : random->below(50);
    };
    if (!random->chance(percent, 100)) {
      fate.push_back(delay());
    }
    if (random->chance(percent, 100)) {
      fate.push_back(delay());
    }
    return fate;
  };
}

void soak(std::uint64_t seed) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  constexpr std::uint32_t mtus[] = {64, 256, 1024, 4096};
  TestOptions options = {.mtu_bytes = mtus[random.below(4)],
                         .lossless = random.chance(1, 4),
                         .carries_riders = seed % 2 == 0,
                         .seed = seed,
                         .memory_bytes = memory_bytes};
  options.connect = {.timeout_ns = 40'000,
                     .retry_count = 200,
                     .rnr_delay_ns = 10'000,
                     .reads_in_flight = static_cast<std::uint32_t>(random.between(1, 16))};
  TwoNics nics(options);
  if (options.lossless) {
    nics.a.wire.set_credits(random.between(1, 40));
    nics.b.wire.set_credits(random.between(1, 40));
  } else {
    const std::uint64_t percent = random.below(20);
    nics.a.wire.choose(trouble(seed * 3, percent));
    nics.b.wire.choose(trouble(seed * 5, percent));
  }
  Direction there(nics.a, nics.b, seed * 7);
  Direction back(nics.b, nics.a, seed * 11);
  for (int turn = 0; turn < 20'000 && !(there.is_finished() && back.is_finished()); ++turn) {
    there.step();
    back.step();
    nics.run(random.below(4'000));
    if (testing::Test::HasFailure()) {
      return;
    }
  }
  EXPECT_TRUE(there.is_finished() && back.is_finished());
  there.check_memory();
  back.check_memory();
  EXPECT_EQ(nics.a.qp->state(), QpState::ready_to_send);
}

// There is one thread, in which ThreadSanitizer finds little and takes long.
#if defined(__SANITIZE_THREAD__)
constexpr std::uint64_t seeds = 20;
#else
constexpr std::uint64_t seeds = 300;
#endif

TEST(Soak, keeps_every_byte_and_order_over_bad_wires) {
  for (std::uint64_t seed = 1; seed <= seeds && !HasFailure(); ++seed) {
    soak(seed);
  }
}

}  // namespace
}  // namespace remora::fabric::nic
