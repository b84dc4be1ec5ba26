#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <optional>
#include <string>

#include "fabric/nic/device/sim_machine.h"
#include "fabric/nic/wire/sim/profile.h"
#include "fabric/nic/wire/sim/sim_network.h"
#include "pmem/open_region.h"
#include "pmem/pmem_testing.h"
#include "rpc/caller.h"
#include "rpc/server.h"
#include "runtime/virtual_loop.h"
#include "runtime/when_all.h"

namespace remora::rpc {
namespace {

std::string text_of(ConstBytes bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// Answers with the text that it was sent, backwards; some words make it behave in other ways.
class Backwards final : public Service {
 public:
  Reply handle(const Session& session, std::uint32_t call, Kind, ConstBytes request,
               Bytes body) override {
    last = session.id;
    const std::string text = text_of(request);
    if (text == "refuse") {
      return Reply::failure(body, Code::not_found, "there is nothing of that name");
    }
    if (text == "later") {
      late_call = call;
      return {.later = true};
    }
    if (text == "persist") {
      return {.ticket = pages->drain()};
    }
    std::copy(request.rbegin(), request.rend(), body.begin());
    return {.size_bytes = static_cast<std::uint32_t>(request.size())};
  }
  Reply written(const Session&, std::uint32_t, Bytes body) override {
    body[0] = std::byte{'!'};
    return {.size_bytes = 1};
  }
  bool client_left(const Session&) override {
    ++gone;
    return true;
  }

  SessionId last = 0;
  std::uint32_t late_call = 0;
  int gone = 0;
  Region* pages = nullptr;
};

// Somebody who is served on the same loop.
class Other final : public Committer::Party {
 public:
  bool all_wait() override { return waits; }

  bool waits = false;
};

class RpcTest : public testing::Test {
 protected:
  RpcTest()
      : network_(loop_, *fabric::nic::sim::load_nic_profile("connectx-5"),
                 *fabric::nic::sim::load_memory_profile("dram"), Random(1)),
        near_(loop_, network_),
        far_(loop_, network_) {
    loop_.add_cores(1);
    server_ = Server::create(Host(loop_, far_.nic), service_, {}).value();
    caller_ = connected();
  }

  std::unique_ptr<Caller> connected(const CallerOptions& options = {}) {
    std::unique_ptr<Caller> caller = Caller::create(Host(loop_, near_.nic), options).value();
    const fabric::QueuePairAddress server = server_->accept(caller->address()).value();
    EXPECT_TRUE(caller->connect(server, {.timeout_ns = 100'000}).ok());
    return caller;
  }

  static Task<std::string> say(Caller& caller, std::string text) {
    CallSlot slot = co_await caller.slot();
    std::memcpy(slot.request().data(), text.data(), text.size());
    const Result<ConstBytes> reply = co_await caller.call(slot, 7, text.size());
    co_return reply.ok() ? text_of(*reply)
                         : std::string(to_string(reply.status().code())) + ": " +
                               std::string(reply.status().message());
  }

  VirtualLoop loop_{{.seed = 1}};
  fabric::nic::sim::SimNetwork network_;
  fabric::nic::sim::SimMachine near_;
  fabric::nic::sim::SimMachine far_;
  Backwards service_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<Caller> caller_;
};

TEST_F(RpcTest, answers) {
  EXPECT_EQ(loop_.block_on(say(*caller_, "remora")), "aromer");
}

TEST_F(RpcTest, answers_more_calls_than_there_are_slots) {
  std::vector<Task<std::string>> calls;
  for (int i = 0; i < 200; ++i) {
    calls.push_back(say(*caller_, "ab"));
  }
  for (Task<std::string>& call : calls) {
    EXPECT_EQ(loop_.run_until(call), RunState::finished);
    EXPECT_EQ(call.take(), "ba");
  }
}

// The numbers of calls come round after a million on one slot; 0 is no call's.
TEST_F(RpcTest, answers_when_the_numbers_of_calls_come_round) {
  caller_ = connected({.first_round = (1u << (32 - slot_bits)) - 3});
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(loop_.block_on(say(*caller_, "remora")), "aromer");
  }
}

TEST_F(RpcTest, brings_the_failure_that_the_service_answered) {
  EXPECT_EQ(loop_.block_on(say(*caller_, "refuse")), "not_found: there is nothing of that name");
  EXPECT_EQ(loop_.block_on(say(*caller_, "ok")), "ko");
}

TEST_F(RpcTest, answers_later_when_the_service_says_so) {
  Task<std::string> call = say(*caller_, "later");
  (void)loop_.run_for(50'000);
  EXPECT_FALSE(call.finished());
  server_->answer(service_.last, service_.late_call, {}, std::as_bytes(std::span("now", 3)));
  EXPECT_EQ(loop_.block_on(std::move(call)), "now");
}

TEST_F(RpcTest, fails_a_call_that_nobody_answers) {
  EXPECT_EQ(loop_.block_on(say(*caller_, "later")), "timed_out: the server did not answer in time");
  EXPECT_EQ(loop_.block_on(say(*caller_, "ok")), "timed_out: the server did not answer in time");
}

TEST_F(RpcTest, tells_a_client_that_it_was_disconnected) {
  loop_.block_on(say(*caller_, "ab"));
  server_->disconnect(service_.last);
  const std::string outcome = loop_.block_on(say(*caller_, "ok"));
  EXPECT_TRUE(outcome.starts_with("closed")) << outcome;
  EXPECT_EQ(service_.gone, 1);
  EXPECT_EQ(server_->clients(), 0u);
  EXPECT_EQ(loop_.block_on(say(*connected(), "again")), "niaga");
}

TEST_F(RpcTest, notices_that_a_client_went) {
  loop_.block_on(say(*caller_, "ab"));
  caller_.reset();
  EXPECT_EQ(server_->clients(), 1u);
  // Nothing tells a network that a peer went; what is sent to it does.
  EXPECT_TRUE(server_->notify(service_.last, 1, {}).ok());
  (void)loop_.run_for(2'000'000'000);
  EXPECT_EQ(server_->clients(), 0u);
  EXPECT_EQ(service_.gone, 1);
}

TEST_F(RpcTest, carries_notices) {
  std::map<Kind, std::string> notices;
  caller_->on_notice([&](Kind kind, ConstBytes body) { notices[kind] = text_of(body); });
  loop_.block_on(say(*caller_, "ab"));
  EXPECT_TRUE(server_->notify(service_.last, 3, std::as_bytes(std::span("hear", 4))).ok());
  (void)loop_.run_for(100'000);
  EXPECT_EQ(notices[3], "hear");
  EXPECT_EQ(loop_.block_on(say(*caller_, "ab")), "ba");
}

TEST_F(RpcTest, charges_the_core_and_answers_when_it_has_spent_that) {
  caller_.reset();
  server_.reset();
  server_ =
      Server::create(Host(loop_, far_.nic, nullptr, Faults(), {.request_ns = 70'000}), service_, {})
          .value();
  caller_ = connected();
  const std::uint64_t start_ns = loop_.now_ns();
  Task<std::string> first = say(*caller_, "ab");
  Task<std::string> second = say(*caller_, "cd");
  EXPECT_EQ(loop_.block_on(std::move(first)), "ba");
  EXPECT_GE(loop_.now_ns() - start_ns, 70'000u);
  EXPECT_EQ(loop_.block_on(std::move(second)), "dc");
  EXPECT_GE(loop_.now_ns() - start_ns, 140'000u);
}

// Where replies wait for commits, and their ends are told of.
class RpcCommitTest : public RpcTest {
 protected:
  RpcCommitTest() {
    service_.pages = &pages_;
    pages_.tell_of_commits();
    caller_.reset();
    serve();
  }
  ~RpcCommitTest() override { server_.reset(); }
  void serve(bool may_stand_still = true) {
    server_.reset();
    committer_.emplace(loop_, pages_);
    committer_->join(other_);
    server_ = Server::create(Host(loop_, far_.nic, &pages_), service_,
                             {.committer = &*committer_, .may_stand_still = may_stand_still})
                  .value();
    caller_ = connected();
  }
  // So many calls at a time, each of which waits for a commit.
  void persist(int calls) {
    std::vector<Task<std::string>> all;
    for (int i = 0; i < calls; ++i) {
      all.push_back(say(*caller_, "persist"));
    }
    for (Task<std::string>& call : all) {
      EXPECT_EQ(loop_.block_on(std::move(call)), "");
    }
  }

  FakeRegion pages_{1 << 20, Granularity::page};
  Other other_;
  std::optional<Committer> committer_;
};

TEST_F(RpcCommitTest, the_loop_makes_a_commit_that_nobody_else_would_notice) {
  other_.waits = true;
  persist(1);
  EXPECT_EQ(pages_.commits(), 1u);
  EXPECT_EQ(pages_.blocked(), 1u);
}

TEST_F(RpcCommitTest, others_make_a_commit_that_somebody_would_notice) {
  pages_.commit_when_asked();
  persist(1);
  EXPECT_EQ(pages_.commits(), 1u);
  EXPECT_EQ(pages_.blocked(), 0u);
}

TEST_F(RpcCommitTest, the_loop_never_stands_still_under_clients_that_are_far_away) {
  serve(false);
  other_.waits = true;
  pages_.commit_when_asked();
  persist(1);
  EXPECT_EQ(pages_.commits(), 1u);
  EXPECT_EQ(pages_.blocked(), 0u);
}

TEST_F(RpcCommitTest, each_reply_asks_for_its_commit_where_nobody_decides) {
  server_ = Server::create(Host(loop_, far_.nic, &pages_), service_, {}).value();
  caller_ = connected();
  pages_.commit_when_asked();
  other_.waits = true;
  persist(1);
  persist(1);
  EXPECT_EQ(pages_.commits(), 2u);
  EXPECT_EQ(pages_.blocked(), 0u);
}

TEST_F(RpcCommitTest, those_who_ask_again_and_again_share_their_commits) {
  std::vector<Task<std::string>> first;
  for (int i = 0; i < 8; ++i) {
    first.push_back(say(*caller_, "persist"));
  }
  (void)loop_.run_for(50'000);
  pages_.commit();  // takes long enough for all to come
  for (Task<std::string>& call : first) {
    EXPECT_EQ(loop_.block_on(std::move(call)), "");
  }
  pages_.commit_when_asked();
  const std::uint64_t before = pages_.commits();
  for (int i = 0; i < 5; ++i) {
    persist(8);
  }
  EXPECT_EQ(pages_.commits(), before + 5);
}

TEST_F(RpcCommitTest, a_failed_commit_is_answered_to_all_that_wait_for_it) {
  other_.waits = true;
  pages_.fail();
  EXPECT_EQ(loop_.block_on(say(*caller_, "persist")), "io_error: the medium failed");
  EXPECT_EQ(loop_.block_on(say(*caller_, "persist")), "io_error: the medium failed");
  EXPECT_EQ(service_.gone, 0);
}

}  // namespace
}  // namespace remora::rpc
