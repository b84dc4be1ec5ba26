#include "kv/buffers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/random.h"
#include "fabric/nic/device/nic.h"
#include "fabric/nic/wire/sim/profile.h"
#include "fabric/nic/wire/sim/sim_network.h"
#include "fabric/nic/wire/sim/sim_wire.h"
#include "runtime/virtual_loop.h"

namespace remora::kv {
namespace {

class BuffersTest : public testing::Test {
 protected:
  BuffersTest() { buffers_ = Buffers::create(loop_, *domain_, 64 * 1024).value(); }
  Task<Buffer> take(std::size_t size_bytes) { co_return co_await buffers_->take(size_bytes); }
  Buffer taken(std::size_t size_bytes) { return loop_.block_on(take(size_bytes)); }

  VirtualLoop loop_;
  fabric::nic::sim::SimNetwork network_{loop_, *fabric::nic::sim::load_nic_profile("connectx-5"),
                                        *fabric::nic::sim::load_memory_profile("dram"), Random(1)};
  fabric::nic::PlainDma dma_;
  fabric::nic::Nic nic_{
      loop_, network_.add_node(), dma_, {.keys = fabric::nic::Keys::from_system()}};
  std::unique_ptr<fabric::ProtectionDomain> domain_ = nic_.create_domain();
  std::unique_ptr<Buffers> buffers_;
};

bool overlap(const Buffer& one, const Buffer& other) {
  return one.bytes().data() < other.bytes().data() + other.bytes().size() &&
         other.bytes().data() < one.bytes().data() + one.bytes().size();
}

TEST_F(BuffersTest, pieces_never_overlap_and_all_comes_back) {
  Random random(1);
  std::vector<Buffer> held;
  for (int i = 0; i < 20'000; ++i) {
    const bool is_full = held.size() >= 12;
    if (!is_full && random.below(2) == 0) {
      held.push_back(taken(random.between(1, 4096)));
      for (std::size_t other = 0; other + 1 < held.size(); ++other) {
        ASSERT_FALSE(overlap(held.back(), held[other])) << "after " << i;
      }
    } else if (!held.empty()) {
      std::swap(held[random.below(held.size())], held.back());
      held.pop_back();
    }
  }
  held.clear();
  EXPECT_EQ(taken(buffers_->largest_bytes()).bytes().size(), buffers_->largest_bytes());
}

TEST_F(BuffersTest, who_wants_more_than_there_is_waits_for_it) {
  Buffer small = taken(1);
  Task<Buffer> all = take(buffers_->largest_bytes());
  (void)loop_.run_for(1'000'000);
  EXPECT_FALSE(all.finished());
  small = Buffer();
  EXPECT_EQ(loop_.block_on(std::move(all)).bytes().size(), buffers_->largest_bytes());
}

}  // namespace
}  // namespace remora::kv
