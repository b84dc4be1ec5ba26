// F7: a long mixed conversation, in both directions, held to a model. Loss, duplication and
// reordering must not show in it.
#include <cstring>
#include <deque>

#include "base/random.h"
#include "tests/fabric/contract.h"

namespace remora::fabric::contract {
namespace {

class Conversation {
 public:
  Conversation(World& world, std::uint64_t seed) : pair_(world), random_(seed) {
    model_.resize(pair_.far.memory->bytes().size());
    for (std::uint64_t i = 0; i < receives; ++i) {
      pair_.post_receive(i, i * slot_bytes, slot_bytes);
    }
  }

  void run() {
    for (std::uint64_t i = 0; i < rounds; ++i) {
      step(i);
      if (random_.chance(1, 4)) {
        pair_.wait_sends(i + 1);
      } else if (i >= slots - 2) {
        pair_.wait_sends(i - slots + 3);  // the slots of older ones are used again
      }
    }
    pair_.wait_sends(rounds);
    pair_.wait_receives(messages_.size());
    check();
  }

 private:
  static constexpr std::uint64_t rounds = 60;
  static constexpr std::uint64_t receives = 60;
  static constexpr std::size_t slot_bytes = 4096;
  static constexpr std::uint64_t slots = near_bytes / 16'384;

  void step(std::uint64_t i) {
    const std::size_t near = i % slots * 16'384;
    const std::size_t far = random_.below(10'000);
    const std::size_t size = random_.between(1, 9000);
    switch (random_.below(4)) {
      case 0:
        pair_.fill_near(near, size, i);
        std::memcpy(model_.data() + far, pair_.near_at(near), size);
        pair_.post(pair_.write(i, near, far, size));
        break;
      case 1: {
        SendWork work = pair_.read(i, near, far, size);
        work.fence = true;
        pair_.post(work);
        pair_.wait_sends(i + 1);
        EXPECT_TRUE(std::memcmp(pair_.near_at(near), model_.data() + far, size) == 0) << i;
        break;
      }
      case 2:
        pair_.post(pair_.fetch_add(i, near, counter, i + 1));
        sum_ += i + 1;
        break;
      default: {
        const std::size_t length = random_.between(1, slot_bytes);
        pair_.fill_near(near, length, i);
        messages_.push_back(Pair::pattern(length, i));
        pair_.post(pair_.send(i, near, length));
      }
    }
  }

  void check() {
    EXPECT_TRUE(all_succeeded(pair_.near.sends));
    const std::vector<std::uint64_t> ids = ids_of(pair_.near.sends);
    EXPECT_EQ(ids.size(), rounds);
    EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
    ASSERT_EQ(pair_.far.receives.size(), messages_.size());
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      EXPECT_EQ(pair_.far.receives[i].id, i);
      ASSERT_EQ(pair_.far.receives[i].size_bytes, messages_[i].size());
      EXPECT_TRUE(pair_.buffer_holds(i * slot_bytes, messages_[i])) << "message " << i;
    }
    EXPECT_EQ(pair_.status_of(pair_.flush(999, 0, 32'768, FlushPlacement::visibility)),
              WorkStatus::success);
    EXPECT_EQ(pair_.far_word(counter), sum_) << "an atomic ran twice or never";
    store(model_.data() + counter, sum_);
    EXPECT_TRUE(pair_.far_holds(0, model_));
  }

  static constexpr std::size_t counter = 24 * 1024;

  Pair pair_;
  Random random_;
  std::vector<std::byte> model_;
  std::deque<std::vector<std::byte>> messages_;
  std::uint64_t sum_ = 0;
};

SENTENCE(F7, faults_of_the_wire_change_nothing_but_time) {
  Conversation(world, world.runtime().random().next()).run();
}

}  // namespace
}  // namespace remora::fabric::contract
