// The contract of the RPC designs: what every one of them owes, on every wire of a host and on the
// simulated one, with losses and without.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>

#include "runtime/when_all.h"
#include "tests/rpc/rig.h"

namespace remora::rpc::contract {
namespace {

using fabric::contract::World;
using fabric::contract::WorldKind;

struct Case {
  const Design* design;
  WorldKind world;
};

std::vector<Case> cases() {
  constexpr std::array wires = {"sim", "sim_lossy", "ring", "mapped", "roce"};
  std::vector<Case> all;
  for (const Design* design : designs()) {
    for (const WorldKind& world : fabric::contract::all_worlds()) {
      if (std::ranges::find(wires, world.name) != wires.end()) {
        all.push_back({design, world});
      }
    }
  }
  return all;
}

class Designs : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (!GetParam().world.absent.empty()) {
      GTEST_SKIP() << GetParam().world.absent;
    }
    world_ = GetParam().world.make(1);
  }
  Rig& rig(const DesignOptions& options = {}) {
    return rigs_.emplace_back(*GetParam().design, *world_, options);
  }
  bool loses() const { return GetParam().world.name == "sim_lossy"; }
  // Requests are.
  bool is_by_datagram() const {
    return GetParam().design->transports.front() == fabric::Transport::ud;
  }

  std::unique_ptr<World> world_;
  std::deque<Rig> rigs_;
};

std::string name_of(const testing::TestParamInfo<Case>& info) {
  std::string name = std::string(info.param.design->descriptor.name) + "_" + info.param.world.name;
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Designs, testing::ValuesIn(cases()), name_of);

TEST_P(Designs, carry_arguments_and_results_of_every_size) {
  Rig& rig = this->rig({.body_bytes = 70'000, .resend_ns = 2'000'000});
  const std::unique_ptr<DesignClient> client = rig.connect();
  ASSERT_NE(client, nullptr);
  const std::size_t most = rig.options().body_bytes;
  std::uint64_t number = 0;
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{8}, std::size_t{9},
        std::size_t{63}, std::size_t{64}, std::size_t{239}, std::size_t{240}, std::size_t{241},
        std::size_t{1000}, std::size_t{4000}, most - 1, most, std::size_t{1}, most}) {
    const std::string text = text_of(size, ++number);
    ASSERT_EQ(rig.ask(*client, echo, text), text) << size << " bytes";
  }
  EXPECT_EQ(rig.ask(*client, whole, "x"), std::string(most, 0x5a));
}

// Every slot is used again and again, with results that are shorter and longer than those before.
TEST_P(Designs, have_as_many_calls_in_flight_as_their_window) {
  constexpr std::uint64_t rounds = 60;
  Rig& rig = this->rig({.window = 4, .body_bytes = 3000, .resend_ns = 2'000'000});
  const std::unique_ptr<DesignClient> one = rig.connect();
  const std::unique_ptr<DesignClient> other = rig.connect();
  const auto lane = [](DesignClient& client, std::uint32_t slot, std::uint64_t seed) -> Task<int> {
    int wrong = 0;
    for (std::uint64_t i = 0; i < rounds; ++i) {
      const std::string text = text_of((seed * 31 + i * 577) % 3000, seed + i);
      const std::string answer = co_await Rig::say(client, slot, echo, text);
      wrong += answer == text ? 0 : 1;
    }
    co_return wrong;
  };
  std::vector<Task<int>> lanes;
  for (std::uint32_t slot = 0; slot < 4; ++slot) {
    lanes.push_back(lane(*one, slot, slot));
    lanes.push_back(lane(*other, slot, 100 + slot));
  }
  for (Task<int>& task : lanes) {
    ASSERT_TRUE(rig.ends(task));
    EXPECT_EQ(task.take(), 0);
  }
  const std::uint64_t resent = one->sent_again() + other->sent_again();
  EXPECT_GE(rig.service().handled, 8u * rounds);
  if (!(loses() && is_by_datagram())) {  // which may come twice by itself
    EXPECT_LE(rig.service().handled, 8u * rounds + resent);
  }
  if (rig.is_reliable()) {
    EXPECT_EQ(resent, 0u);
  }
}

TEST_P(Designs, handle_the_calls_of_a_slot_in_their_order) {
  Rig& rig = this->rig({.resend_ns = 2'000'000});
  const std::unique_ptr<DesignClient> client = rig.connect();
  std::vector<std::string> made;
  for (int i = 0; i < 150; ++i) {
    made.push_back(std::to_string(i));
    ASSERT_EQ(rig.ask(*client, echo, made.back()), made.back());
  }
  ASSERT_EQ(rig.service().seen.size(), 1u);
  std::vector<std::string> seen;
  for (const std::vector<std::byte>& bytes : rig.service().seen.begin()->second) {
    seen.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  // What is sent again may be handled again: as a datagram even after others, if it was late.
  std::vector<std::string> first;
  for (const std::string& text : seen) {
    if (std::ranges::find(first, text) == first.end()) {
      first.push_back(text);
    }
  }
  EXPECT_EQ(first, made);
  if (!is_by_datagram() || !loses()) {
    EXPECT_TRUE(
        std::ranges::is_sorted(seen, {}, [](const std::string& text) { return std::stoi(text); }));
  }
  if (rig.is_reliable()) {
    EXPECT_EQ(seen, made);
  }
}

TEST_P(Designs, refuse_what_is_too_long_before_anything_is_sent) {
  Rig& rig = this->rig({.body_bytes = 512, .resend_ns = 2'000'000});
  const std::unique_ptr<DesignClient> client = rig.connect();
  const std::string outcome = rig.ask(*client, echo, text_of(513, 1));
  EXPECT_TRUE(outcome.starts_with("invalid_argument: a call of 513 bytes")) << outcome;
  EXPECT_EQ(rig.service().handled, 0u);
  EXPECT_EQ(rig.ask(*client, echo, "ok"), "ok") << "the client is as good as before";
  Task<std::string> beyond = Rig::say(*client, 0, echo, "");
  ASSERT_TRUE(rig.ends(beyond));
  Task<Status> nowhere = client->persistent(1, echo, 0);
  ASSERT_TRUE(nowhere.finished());
  EXPECT_EQ(nowhere.take().code(), Code::invalid_argument) << "a slot that is not there";
  DesignOptions large = rig.options();
  large.body_bytes = rig.design().most_body_bytes(world_->far()) + 1;
  EXPECT_EQ(serve(rig.design(), Host(world_->runtime(), world_->far()), rig.service(), large)
                .status()
                .code(),
            Code::invalid_argument);
}

TEST_P(Designs, bring_the_failure_that_the_handler_answered) {
  Rig& rig = this->rig({.resend_ns = 2'000'000});
  const std::unique_ptr<DesignClient> client = rig.connect();
  EXPECT_EQ(rig.ask(*client, refuse, "x"), "not_found: there is nothing of that name");
  EXPECT_EQ(rig.ask(*client, echo, "ok"), "ok");
}

TEST_P(Designs, bring_an_answer_that_is_given_later) {
  Rig& rig = this->rig({.window = 2});
  const std::unique_ptr<DesignClient> client = rig.connect();
  Task<std::string> call = Rig::say(*client, 1, later, "x");
  ASSERT_TRUE(world_->run_until([&] { return !rig.service().late.empty(); }));
  EXPECT_FALSE(call.finished());
  EXPECT_EQ(rig.ask(*client, echo, "meanwhile"), "meanwhile");
  // Where an answer is lost the request comes again, and waits again.
  for (std::size_t given = 0; !call.finished();) {
    ASSERT_TRUE(
        world_->run_until([&] { return call.finished() || given < rig.service().late.size(); }));
    for (; given < rig.service().late.size(); ++given) {
      const auto [session, number] = rig.service().late[given];
      rig.server().answer(session, number, {}, std::as_bytes(std::span("now", 3)));
    }
  }
  EXPECT_EQ(call.take(), "now");
}

TEST_P(Designs, go_on_for_others_when_a_client_dies) {
  Rig& rig = this->rig({.most_clients = 2, .timeout_ns = 400'000'000, .resend_ns = 2'000'000});
  const std::unique_ptr<DesignClient> lives = rig.connect();
  ASSERT_EQ(rig.ask(*lives, echo, "one"), "one");
  for (int i = 0; i < 5; ++i) {
    std::unique_ptr<DesignClient> dies = rig.connect();
    ASSERT_NE(dies, nullptr) << "the place of the one before is free again";
    ASSERT_EQ(rig.ask(*dies, echo, "two"), "two");
    EXPECT_EQ(rig.try_connect().status().code(), Code::no_space);
    const SessionId session = rig.service().seen.rbegin()->first;
    dies.reset();
    EXPECT_EQ(rig.ask(*lives, echo, "three"), "three");
    rig.server().disconnect(session);
    ASSERT_TRUE(world_->run_until([&] {
      return std::ranges::find(rig.service().left, session) != rig.service().left.end();
    }));
    EXPECT_EQ(rig.ask(*lives, echo, "four"), "four");
  }
}

TEST_P(Designs, tell_their_calls_that_the_server_is_gone_and_find_its_successor) {
  Rig& rig = this->rig({.timeout_ns = 200'000'000, .resend_ns = 2'000'000});
  std::unique_ptr<DesignClient> client = rig.connect();
  ASSERT_EQ(rig.ask(*client, echo, "before"), "before");
  Task<std::string> call = Rig::say(*client, 0, later, "x");
  ASSERT_TRUE(world_->run_until([&] { return !rig.service().late.empty(); }));
  rig.stop_server();
  ASSERT_TRUE(rig.ends(call));
  const std::string outcome = call.take();
  EXPECT_TRUE(outcome.starts_with("closed") || outcome.starts_with("timed_out")) << outcome;
  const std::string next = rig.ask(*client, echo, "y");
  EXPECT_TRUE(next.starts_with("closed") || next.starts_with("timed_out")) << next;
  client.reset();
  rig.start_server();
  const std::unique_ptr<DesignClient> successor = rig.connect();
  EXPECT_EQ(rig.ask(*successor, echo, "after"), "after");
}

TEST_P(Designs, turn_away_a_client_of_another_window) {
  if (!rig().is_reliable() || GetParam().design->descriptor.name == "darpc") {
    GTEST_SKIP() << "its two sides need not agree on a window";
  }
  DesignOptions wider = rigs_.back().options();
  wider.window = 3;
  Result<std::unique_ptr<DesignClient>> client =
      GetParam().design->start_client(Host(world_->runtime(), world_->near()), wider);
  ASSERT_TRUE(client.ok());
  EXPECT_EQ(rigs_.back().server().accept((*client)->introduction()).status().code(),
            Code::invalid_argument);
}

}  // namespace
}  // namespace remora::rpc::contract
