// What the loop owes its ends: a fake inlet and a fake outlet say what they were asked for.
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <initializer_list>
#include <utility>
#include <vector>

#include "fabric/nic/device/sim_machine.h"
#include "fabric/nic/wire/sim/profile.h"
#include "fabric/nic/wire/sim/sim_network.h"
#include "rpc/server.h"
#include "runtime/virtual_loop.h"

namespace remora::rpc {
namespace {

// Requests that a test puts there, of clients that share whatever there is.
class FakeInlet final : public Inlet {
 public:
  bool connects() const override { return false; }
  void ask(fabric::QueuePairOptions&) override {}
  Status open(Connection& client, const Introduction& theirs, Introduction& ours) override {
    ++opened;
    ours.token = client.session.id;
    return theirs.token == 13 ? Status(Code::invalid_argument, "not that one") : Status();
  }
  void close(Connection&) override { ++closed; }
  std::size_t poll(std::span<Arrival> out) override {
    std::size_t count = 0;
    while (count < out.size() && !arrivals.empty()) {
      out[count++] = arrivals.front();
      arrivals.pop_front();
    }
    return count;
  }
  std::optional<Request> read(Connection&, const Arrival& arrival) override {
    return arrival.where == 666 ? std::nullopt
                                : std::optional(Request{.call = arrival.where, .kind = 1});
  }
  Status release(Connection&, const Arrival&) override {
    ++released;
    return {};
  }
  void forget(const Arrival&) override { ++forgotten; }

  std::deque<Arrival> arrivals;
  int opened = 0;
  int closed = 0;
  int released = 0;
  int forgotten = 0;
};

// Has places for all clients together.
class FakeOutlet final : public Outlet {
 public:
  void ask(fabric::QueuePairOptions&) override {}
  Status open(Connection&, const Introduction&, Introduction&) override { return {}; }
  void close(Connection&) override {}
  bool collect(Broken& broken) override {
    if (breaks != 0) {
      broken.broken(std::exchange(breaks, 0));
      return true;
    }
    return false;
  }
  Place take(Connection&, std::uint32_t) override {
    return places == 0 ? Place() : Place{--places, Bytes(memory)};
  }
  void give_back(Connection&, std::uint32_t) override { ++places; }
  void forget(std::uint32_t) override { ++places; }
  Bytes body(Connection&, std::uint32_t) override { return memory; }
  Status send(Connection&, std::uint32_t, const MessageHead& head) override {
    ++places;
    sent.push_back(head.call);
    return {};
  }

  std::array<std::byte, 64> memory = {};
  std::uint32_t places = 2;
  SessionId breaks = 0;
  std::vector<std::uint32_t> sent;
};

class Later final : public Service {
 public:
  Reply handle(const Session&, std::uint32_t call, Kind, ConstBytes, Bytes) override {
    return {.later = call > 100};
  }
};

class EndsTest : public testing::Test {
 protected:
  EndsTest()
      : network_(loop_, *fabric::nic::sim::load_nic_profile("connectx-5"),
                 *fabric::nic::sim::load_memory_profile("dram"), Random(1)),
        machine_(loop_, network_) {
    loop_.add_cores(1);
    Ends ends;
    auto inlet = std::make_unique<FakeInlet>();
    auto outlet = std::make_unique<FakeOutlet>();
    inlet_ = inlet.get();
    outlet_ = outlet.get();
    ends.inlet = std::move(inlet);
    ends.outlet = std::move(outlet);
    server_ =
        Server::create(Host(loop_, machine_.nic), service_, {.most_clients = 4}, std::move(ends))
            .value();
  }
  SessionId join() { return server_->accept(Introduction()).value().token; }
  void run(std::initializer_list<Arrival> arrivals) {
    inlet_->arrivals.insert(inlet_->arrivals.end(), arrivals);
    (void)loop_.run_for(1000);
    loop_.arm(tick_, loop_.after(1));
    (void)loop_.run_for(1000);
  }

  class Tick final : public Timer {
    void expire() override {}
  };
  VirtualLoop loop_{{.seed = 1}};
  fabric::nic::sim::SimNetwork network_;
  fabric::nic::sim::SimMachine machine_;
  Later service_;
  Tick tick_;
  FakeInlet* inlet_ = nullptr;
  FakeOutlet* outlet_ = nullptr;
  std::unique_ptr<Server> server_;
};

TEST_F(EndsTest, answers_what_the_inlet_found_and_releases_it) {
  const SessionId client = join();
  run({{.session = client, .where = 7}, {.session = client, .where = 8}});
  EXPECT_EQ(outlet_->sent, (std::vector<std::uint32_t>{7, 8}));
  EXPECT_EQ(inlet_->released, 2);
}

TEST_F(EndsTest, a_client_that_is_turned_away_is_closed) {
  const Result<Introduction> answer = server_->accept(Introduction{.token = 13});
  EXPECT_EQ(answer.status().code(), Code::invalid_argument);
  EXPECT_EQ(inlet_->closed, 1);
  EXPECT_EQ(server_->clients(), 0u);
}

TEST_F(EndsTest, nonsense_cuts_its_client_off_and_nobody_else_and_gives_all_back) {
  const SessionId bad = join();
  const SessionId good = join();
  run({{.session = bad, .where = 666},
       {.session = bad, .where = 3},
       {.session = good, .where = 4}});
  EXPECT_EQ(outlet_->sent, (std::vector<std::uint32_t>{4}));
  EXPECT_EQ(inlet_->forgotten, 2) << "the nonsense, and what came from its client after it";
  EXPECT_EQ(outlet_->places, 2u);
  EXPECT_EQ(server_->clients(), 1u);
  EXPECT_EQ(inlet_->closed, 1);
}

TEST_F(EndsTest, a_request_for_whose_answer_there_is_no_place_cuts_its_client_off) {
  const SessionId client = join();
  outlet_->places = 0;
  run({{.session = client, .where = 3}});
  EXPECT_EQ(server_->clients(), 0u);
  EXPECT_EQ(inlet_->forgotten, 1);
}

TEST_F(EndsTest, an_answer_that_comes_later_takes_a_place_then) {
  const SessionId client = join();
  run({{.session = client, .where = 101},
       {.session = client, .where = 102},
       {.session = client, .where = 103}});
  EXPECT_TRUE(outlet_->sent.empty());
  EXPECT_EQ(outlet_->places, 2u);
  server_->answer(client, 102, {}, {});
  EXPECT_EQ(outlet_->sent, (std::vector<std::uint32_t>{102}));
}

TEST_F(EndsTest, a_client_to_whom_nothing_can_be_sent_is_cut_off) {
  const SessionId client = join();
  outlet_->breaks = client;
  run({});
  EXPECT_EQ(server_->clients(), 0u);
  EXPECT_EQ(inlet_->closed, 1);
}

TEST_F(EndsTest, a_design_without_notices_says_so) {
  EXPECT_EQ(server_->notify(join(), 1, {}).code(), Code::no_space);
}

}  // namespace
}  // namespace remora::rpc
