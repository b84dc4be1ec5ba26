#include "rpc/request_cores.h"

#include <gtest/gtest.h>

#include "fabric/nic/device/nic.h"
#include "fabric/nic/wire/sim/profile.h"
#include "fabric/nic/wire/sim/sim_network.h"
#include "fabric/nic/wire/sim/sim_wire.h"
#include "runtime/virtual_loop.h"

namespace remora::rpc {
namespace {

constexpr std::uint64_t poll_ns = 50;
constexpr std::uint64_t work_ns = 1000;

// Each request that is taken costs its core a microsecond.
class RequestCoresTest : public testing::Test {
 protected:
  RequestCoresTest()
      : network_(loop_, *fabric::nic::sim::load_nic_profile("connectx-5"),
                 *fabric::nic::sim::load_memory_profile("dram"), Random(1)),
        nic_(loop_, network_.add_node(), dma_, {.keys = fabric::nic::Keys::from_seed(1)}) {}

  void make(const CoreGroup& group, std::uint32_t batch) {
    core_ = loop_.add_group(group);
    cores_.emplace(Host(loop_, nic_, nullptr, Faults(), {.poll_ns = poll_ns}, core_), batch);
  }
  void add(SessionId session, std::uint64_t client) { cores_->add({.session = session}, client); }

  // When each was taken, by the order in which they were.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> take_all() {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> taken;
    while (cores_->waiting() != 0) {
      while (const auto request = cores_->take()) {
        taken.emplace_back(request->session, loop_.now_ns());
        loop_.charge(core_, work_ns);
      }
      if (cores_->waiting() != 0) {
        EXPECT_EQ(loop_.step(), RunState::running);
      }
    }
    return taken;
  }

  using Taken = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  VirtualLoop loop_;
  fabric::nic::sim::SimNetwork network_;
  fabric::nic::PlainDma dma_;
  fabric::nic::Nic nic_;
  CoreId core_ = 0;
  std::optional<RequestCores> cores_;
};

TEST_F(RequestCoresTest, a_request_is_taken_when_its_core_gets_to_it) {
  make({.count = 1}, 1);
  add(1, 0);
  add(2, 1);
  add(3, 2);
  EXPECT_EQ(take_all(), (Taken{{1, 0}, {2, 1050}, {3, 2100}}));
  EXPECT_EQ(loop_.busy_ns(core_), 2100u);
}

TEST_F(RequestCoresTest, those_that_wait_form_a_batch_of_one_poll) {
  make({.count = 1}, 32);
  add(1, 0);
  add(2, 1);
  add(3, 2);
  EXPECT_EQ(take_all(), (Taken{{1, 0}, {2, 1050}, {3, 2050}}));
}

TEST_F(RequestCoresTest, clients_with_a_core_of_their_own_wait_for_that_one_alone) {
  make({.count = 2, .spread = Spread::by_client}, 1);
  add(1, 0);
  add(2, 2);
  add(3, 1);
  EXPECT_EQ(take_all(), (Taken{{1, 0}, {3, 0}, {2, 1050}}));
}

TEST_F(RequestCoresTest, cores_with_one_queue_take_what_is_next) {
  make({.count = 2, .spread = Spread::any}, 1);
  add(1, 0);
  add(2, 2);
  add(3, 4);
  EXPECT_EQ(take_all(), (Taken{{1, 0}, {2, 0}, {3, 1050}}));
}

// One poll for all and one for each that it hands on; then who takes it pays one.
TEST_F(RequestCoresTest, a_dispatcher_hands_on_to_the_others) {
  make({.count = 3, .spread = Spread::dispatched}, 32);
  add(1, 0);
  add(2, 0);
  add(3, 0);
  EXPECT_EQ(take_all(), (Taken{{1, 100}, {2, 150}, {3, 1150}}));
}

TEST_F(RequestCoresTest, a_dispatcher_alone_handles_them_itself) {
  make({.count = 1, .spread = Spread::dispatched}, 1);
  add(1, 0);
  add(2, 0);
  EXPECT_EQ(take_all(), (Taken{{1, 0}, {2, 1050}}));
}

}  // namespace
}  // namespace remora::rpc
