// Queue pairs that find each other by librdmacm, on RDMA devices.
#include <arpa/inet.h>

#include <cstring>

#include "fabric/verbs/connection_manager.h"
#include "fabric/verbs/gid_choice.h"
#include "tests/fabric/contract.h"

namespace remora::fabric::contract {
namespace {

using verbs::CmCall;
using verbs::CmListener;
using verbs::CmRequest;
using verbs::CmWord;

class ByAddress : public testing::TestWithParam<WorldKind> {
 protected:
  void SetUp() override {
    if (!GetParam().absent.empty()) {
      GTEST_SKIP() << GetParam().name << ": " << GetParam().absent;
    }
    world_ = GetParam().make(1);
    const Gid& gid = world_->near().attributes().gid;
    if (!verbs::is_ipv4(gid)) {
      GTEST_SKIP() << "the device has no IPv4 address, but " << verbs::to_text(gid);
    }
    address_.sin_family = AF_INET;
    std::memcpy(&address_.sin_addr, gid.data() + 12, 4);
  }
  World& world() { return *world_; }
  const sockaddr* address() const { return reinterpret_cast<const sockaddr*>(&address_); }
  void set_port(std::uint16_t port) { address_.sin_port = htons(port); }

  // Until it is in this state, or fails.
  Status await(CmCall& call, CmCall::State wanted) {
    Status failure;
    const bool came = world_->run_until([&] {
      const Result<CmCall::State> state = call.progress();
      failure = state.status();
      return !state.ok() || *state == wanted;
    });
    return came ? failure : Status(Code::timed_out, "nothing happens");
  }

 private:
  std::unique_ptr<World> world_;
  sockaddr_in address_ = {};
};
INSTANTIATE_TEST_SUITE_P(Verbs, ByAddress, testing::ValuesIn(all_worlds()),
                         [](const auto& param) { return param.param.name; });

CmWord word_of(const QueuePair& qp, std::uint64_t message) {
  CmWord word{.address = qp.address()};
  store(word.message.data(), message);
  return word;
}

TEST_P(ByAddress, two_sides_tell_each_other_how_to_be_reached) {
  Pair pair(world());  // whose queue pairs are connected anew, by what is told
  for (QueuePair* qp : {pair.near.qp.get(), pair.far.qp.get()}) {
    qp->reset();
    ASSERT_TRUE(qp->initialise().ok());
  }
  Result<std::unique_ptr<CmListener>> listener = CmListener::listen(address());
  ASSERT_TRUE(listener.ok()) << listener.status().message();
  set_port((*listener)->port());
  Result<std::unique_ptr<CmCall>> call = CmCall::start(address());
  ASSERT_TRUE(call.ok()) << call.status().message();
  Status status = await(**call, CmCall::State::resolved);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ((*call)->device(), world().near().attributes().name);

  ASSERT_TRUE((*call)->ask(word_of(*pair.near.qp, 11)).ok());
  std::unique_ptr<CmRequest> request;
  ASSERT_TRUE(world().run_until([&] { return (request = (*listener)->next()) != nullptr; }));
  EXPECT_EQ(request->device(), world().far().attributes().name);
  EXPECT_EQ(load<std::uint64_t>(request->caller().message.data()), 11u);
  const ConnectOptions options = world().connect_options();
  ASSERT_TRUE(pair.far.qp->connect(request->caller().address, options).ok());
  ASSERT_TRUE(request->accept(word_of(*pair.far.qp, 22)).ok());

  status = await(**call, CmCall::State::answered);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(load<std::uint64_t>((*call)->answer().message.data()), 22u);
  ASSERT_TRUE(pair.near.qp->connect((*call)->answer().address, options).ok());
  ASSERT_TRUE((*call)->establish().ok());
  pair.fill_near(0, 5000, 8);
  EXPECT_EQ(pair.status_of(pair.write(1, 0, 64, 5000)), WorkStatus::success);
  EXPECT_TRUE(pair.far_holds(64, Pair::pattern(5000, 8)));
}

TEST_P(ByAddress, one_that_is_let_go_is_refused) {
  Pair pair(world());
  Result<std::unique_ptr<CmListener>> listener = CmListener::listen(address());
  ASSERT_TRUE(listener.ok()) << listener.status().message();
  set_port((*listener)->port());
  Result<std::unique_ptr<CmCall>> call = CmCall::start(address());
  ASSERT_TRUE(call.ok()) << call.status().message();
  ASSERT_TRUE(await(**call, CmCall::State::resolved).ok());
  ASSERT_TRUE((*call)->ask(word_of(*pair.near.qp, 1)).ok());
  ASSERT_TRUE(world().run_until([&] { return (*listener)->next() != nullptr; }));
  EXPECT_EQ(await(**call, CmCall::State::answered).code(), Code::closed);
}

TEST_P(ByAddress, where_nobody_listens_nobody_answers) {
  Pair pair(world());
  set_port(1);
  Result<std::unique_ptr<CmCall>> call = CmCall::start(address());
  ASSERT_TRUE(call.ok()) << call.status().message();
  ASSERT_TRUE(await(**call, CmCall::State::resolved).ok());
  ASSERT_TRUE((*call)->ask(word_of(*pair.near.qp, 1)).ok());
  EXPECT_EQ(await(**call, CmCall::State::answered).code(), Code::closed);
}

}  // namespace
}  // namespace remora::fabric::contract
