#include "server/store_host.h"
#include "server/patience_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/folder_testing.h"
#include "link/session_link.h"
#include "link/store_link.h"
#include "rpc/caller.h"
#include "rpc/server.h"
#include "runtime/poll_loop.h"

namespace remora::server {
namespace {

ConstBytes bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// Host and clients share a loop: it runs both sides.
class StoreHostTest : public testing::TestWithParam<link::WireKind> {
 protected:
  StoreHostTest() {
    options_.socket_path = folder_.file("socket");
    options_.fabric = GetParam();
    options_.pool_bytes = 4 << 20;
    be_patient(options_.server);
  }

  void open() {
    Result<std::unique_ptr<StoreHost>> host = StoreHost::open(loop_, options_);
    ASSERT_TRUE(host.ok()) << host.status().message();
    host_ = std::move(host).value();
  }
  Result<std::unique_ptr<link::StoreLink>> connect(link::StoreLinkOptions options = {}) {
    options.fabric = GetParam();
    be_patient(options.client);
    return loop_.block_on(link::StoreLink::connect(loop_, options_.socket_path, options));
  }
  std::unique_ptr<link::StoreLink> connected() {
    Result<std::unique_ptr<link::StoreLink>> link = connect();
    EXPECT_TRUE(link.ok()) << link.status().message();
    return std::move(link).value();
  }
  Status put(link::StoreLink& link, const std::string& key, const std::string& value) {
    return loop_.block_on(link.store().put(bytes_of(key), bytes_of(value)));
  }
  std::string get(link::StoreLink& link, const std::string& key) {
    std::string value(1000, '\0');
    const Result<std::size_t> size =
        loop_.block_on(link.store().get(bytes_of(key), std::as_writable_bytes(std::span(value))));
    return size.ok() ? value.substr(0, *size) : std::string(to_string(size.code()));
  }
  // Turns the loop until it is so; gives up in the end.
  template <typename Predicate>
  bool eventually(Predicate predicate) {
    for (int i = 0; i < 60'000 && !predicate(); ++i) {
      (void)loop_.run_for(1'000'000);
    }
    return predicate();
  }

  const TestFolder folder_;
  StoreHostOptions options_;
  PollLoop loop_;
  std::unique_ptr<StoreHost> host_;
};

INSTANTIATE_TEST_SUITE_P(fabrics, StoreHostTest,
                         testing::Values(link::WireKind::ring, link::WireKind::mapped),
                         [](const testing::TestParamInfo<link::WireKind>& param) {
                           return std::string(to_string(param.param));
                         });

TEST_P(StoreHostTest, clients_see_what_others_put) {
  open();
  std::unique_ptr<link::StoreLink> one = connected();
  std::unique_ptr<link::StoreLink> other = connected();
  EXPECT_EQ(host_->store().clients(), 2u);
  EXPECT_TRUE(put(*one, "key", "value").ok());
  EXPECT_EQ(get(*other, "key"), "value");
  EXPECT_EQ(get(*other, "nothing"), "not_found");
  EXPECT_EQ(one->engine().name(), "efactory");
}

TEST_P(StoreHostTest, a_file_keeps_what_was_put) {
  options_.pool_path = folder_.file("pool");
  open();
  EXPECT_TRUE(put(*connected(), "key", "value").ok());
  EXPECT_TRUE(eventually([&] { return !host_->store().busy() && host_->links() == 0; }));
  host_.reset();
  open();
  EXPECT_EQ(get(*connected(), "key"), "value");
}

TEST_P(StoreHostTest, forgets_clients_that_went) {
  open();
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(put(*connected(), "key", "value").ok());
    EXPECT_TRUE(eventually([&] { return host_->store().clients() == 0 && host_->links() == 0; }));
  }
}

TEST_P(StoreHostTest, clients_find_the_store_closed_when_the_host_goes) {
  open();
  std::unique_ptr<link::StoreLink> link = connected();
  host_.reset();
  EXPECT_TRUE(eventually([&] { return !link->store().failure().ok(); }));
  EXPECT_EQ(put(*link, "key", "value").code(), Code::closed);
}

TEST_P(StoreHostTest, refuses_the_wrong_engine) {
  open();
  link::StoreLinkOptions other;
  other.design = "abacus";
  const Result<std::unique_ptr<link::StoreLink>> link = connect(other);
  ASSERT_FALSE(link.ok());
  EXPECT_EQ(link.code(), Code::invalid_argument);
  options_.engine = "abacus";
  EXPECT_EQ(StoreHost::open(loop_, options_).code(), Code::invalid_argument);
}

TEST_P(StoreHostTest, refuses_more_clients_than_it_takes) {
  options_.server.most_clients = 1;
  open();
  std::unique_ptr<link::StoreLink> first = connected();
  EXPECT_FALSE(connect().ok());
  EXPECT_TRUE(put(*first, "key", "value").ok());
}

TEST_P(StoreHostTest, says_that_nobody_listens) {
  EXPECT_EQ(connect().code(), Code::not_found);
}

// A peer that speaks by itself.
class Stranger final : public fabric::nic::LinkOwner {
 public:
  Stranger(PollLoop& loop, const std::string& path)
      : loop_(loop),
        wire_(fabric::nic::ring::RingWire::create(loop, this).value()),
        nic_(loop, *wire_, dma_),
        link_(loop.block_on(wire_->connect(path)).value()) {}

  void say(ConstBytes bytes) { EXPECT_TRUE(wire_->send_control(link_, bytes).ok()); }
  fabric::Gid gid() const { return wire_->gid(); }

  std::vector<link::SessionMessage> heard;
  bool down = false;

 private:
  void control(fabric::nic::LinkId, ConstBytes bytes) override {
    heard.push_back(link::decode(bytes).value());
  }
  void link_down(fabric::nic::LinkId) override { down = true; }

  PollLoop& loop_;
  std::unique_ptr<fabric::nic::ring::RingWire> wire_;
  fabric::nic::PlainDma dma_;
  fabric::nic::Nic nic_;
  fabric::nic::LinkId link_;
};

TEST_P(StoreHostTest, cuts_off_who_talks_nonsense) {
  open();
  std::unique_ptr<link::StoreLink> link = connected();
  Stranger stranger(loop_, options_.socket_path);
  stranger.say(bytes_of("nonsense"));
  EXPECT_TRUE(eventually([&] { return stranger.down; }));
  EXPECT_TRUE(put(*link, "key", "value").ok());
}

TEST_P(StoreHostTest, cuts_off_who_does_not_join) {
  options_.join_timeout_ns = 200'000'000;
  open();
  // Who stands still for so long while it joins is cut off as well.
  Result<std::unique_ptr<link::StoreLink>> joined = connect();
  for (int attempts = 0; attempts < 20 && !joined.ok(); ++attempts) {
    joined = connect();
  }
  ASSERT_TRUE(joined.ok()) << joined.status().message();
  const std::unique_ptr<link::StoreLink> link = std::move(joined).value();
  Stranger stranger(loop_, options_.socket_path);
  EXPECT_TRUE(eventually([&] { return stranger.down; }));
  EXPECT_TRUE(put(*link, "key", "value").ok());
}

TEST_P(StoreHostTest, refuses_queue_pairs_of_others_and_answers_with_the_reason) {
  open();
  Stranger stranger(loop_, options_.socket_path);
  const auto says_no = [&](const link::SessionMessage& message) {
    stranger.heard.clear();
    stranger.say(link::encode(message));
    return eventually([&] { return !stranger.heard.empty(); }) &&
           stranger.heard.front().kind == link::SessionKind::refusal;
  };
  const link::SessionMessage join{.kind = link::SessionKind::join,
                                  .service = std::string(link::store_service),
                                  .design = "efactory",
                                  .queue_pair = {.number = 5, .first_packet = 6, .gid = {7}}};
  EXPECT_TRUE(says_no(join));
  link::SessionMessage other_engine = join;
  other_engine.design = "abacus";
  EXPECT_TRUE(says_no(other_engine));
  link::SessionMessage other_service = join;
  other_service.service = "abacus";
  EXPECT_TRUE(says_no(other_service));
  EXPECT_TRUE(says_no({.kind = link::SessionKind::welcome}));
  EXPECT_EQ(host_->store().clients(), 0u);
  link::SessionMessage right = join;
  right.queue_pair.gid = stranger.gid();
  EXPECT_FALSE(says_no(right));
  EXPECT_TRUE(says_no(right));  // a second time
}

// A service of another kind: it answers what it is told, and says how often it was.
class EchoService final : public PoolService, private rpc::Service {
 public:
  explicit EchoService(const Host& host) : server_(rpc::Server::create(host, *this, {}).value()) {}

  std::string_view name() const override { return "echo"; }
  std::string_view design() const override { return "plain"; }
  Result<fabric::QueuePairAddress> accept(const fabric::QueuePairAddress& client,
                                          link::Role role) override {
    return server_->accept(client, role != link::Role::read);
  }
  std::size_t clients() const override { return server_->clients(); }
  bool busy() const override { return busy_; }
  Status finish() override { return {}; }

 private:
  rpc::Reply handle(const rpc::Session&, std::uint32_t, rpc::Kind, ConstBytes request,
                    Bytes body) override {
    busy_ = as_text(request) == "be busy";
    std::ranges::copy(request, body.begin());
    return {.size_bytes = static_cast<std::uint32_t>(request.size())};
  }

  bool busy_ = false;
  std::unique_ptr<rpc::Server> server_;
};

// The other side of it.
class EchoClient {
 public:
  EchoClient(PollLoop& loop, const std::string& path, link::WireKind fabric) : loop_(loop) {
    link::SessionOptions options;
    options.service = "echo";
    options.fabric = fabric;
    link_ = loop.block_on(link::SessionLink::connect(loop, path, options)).value();
    caller_ = rpc::Caller::create(link_->host(), {.timeout_ns = 60'000'000'000}).value();
    const auto server = loop.block_on(link_->join(caller_->address())).value();
    EXPECT_TRUE(caller_->connect(server, link_->patience()).ok());
  }
  const link::SessionLink& link() const { return *link_; }
  std::string say(const std::string& text) { return loop_.block_on(call(text)); }

 private:
  Task<std::string> call(std::string text) {
    rpc::CallSlot slot = co_await caller_->slot();
    std::ranges::copy(as_bytes(text), slot.request().begin());
    const Result<ConstBytes> reply = co_await caller_->call(slot, 1, text.size());
    co_return reply.ok() ? std::string(as_text(*reply)) : std::string(reply.status().message());
  }

  PollLoop& loop_;
  std::unique_ptr<link::SessionLink> link_;
  std::unique_ptr<rpc::Caller> caller_;
};

TEST_P(StoreHostTest, serves_other_services_at_the_same_doors) {
  open();
  host_->serve(std::make_unique<EchoService>(host_->handed()));
  std::unique_ptr<link::StoreLink> store = connected();
  EchoClient echo(loop_, options_.socket_path, GetParam());
  EXPECT_EQ(echo.link().design(), "plain");
  EXPECT_EQ(echo.link().role(), "admin");
  EXPECT_EQ(echo.say("hello"), "hello");
  EXPECT_TRUE(put(*store, "key", "value").ok());
  EXPECT_EQ(get(*store, "key"), "value");
  EXPECT_EQ(echo.say("be busy"), "be busy");
  EXPECT_TRUE(eventually([&] { return !host_->store().busy(); }));
  EXPECT_TRUE(host_->busy()) << "what any service has to do keeps the host from its end";
  EXPECT_EQ(echo.say("rest"), "rest");
  EXPECT_TRUE(eventually([&] { return !host_->busy(); }));
}

TEST_P(StoreHostTest, names_the_services_that_there_are) {
  open();
  host_->serve(std::make_unique<EchoService>(host_->handed()));
  link::SessionOptions options;
  options.service = "calls";
  options.fabric = GetParam();
  const auto link =
      loop_.block_on(link::SessionLink::connect(loop_, options_.socket_path, options));
  EXPECT_EQ(link.code(), Code::not_found);
  EXPECT_NE(link.status().message().find("it has: store, echo"), std::string::npos)
      << link.status().message();
}

// Listens where a store is expected, and lets everybody in.
class Impostor final : public fabric::nic::LinkOwner {
 public:
  Impostor(PollLoop& loop, const std::string& path)
      : wire_(fabric::nic::ring::RingWire::create(loop, this).value()), nic_(loop, *wire_, dma_) {
    EXPECT_TRUE(wire_->listen(path, 0600).ok());
  }
  std::string heard;

 private:
  void control(fabric::nic::LinkId link, ConstBytes bytes) override {
    heard += as_text(bytes);
    link::SessionMessage answer = link::decode(bytes).value();
    answer.kind = answer.kind == link::SessionKind::ask ? link::SessionKind::offer
                                                        : link::SessionKind::welcome;
    answer.design = "efactory";
    answer.text = answer.kind == link::SessionKind::offer ? "" : "admin";
    EXPECT_TRUE(wire_->send_control(link, link::encode(answer)).ok());
  }

  std::unique_ptr<fabric::nic::ring::RingWire> wire_;
  fabric::nic::PlainDma dma_;
  fabric::nic::Nic nic_;
};

TEST_P(StoreHostTest, an_impostor_hears_no_token_and_is_not_believed) {
  Impostor impostor(loop_, options_.socket_path);
  link::StoreLinkOptions with_token;
  with_token.token = "a token of some length";
  const auto link = connect(with_token);
  EXPECT_EQ(link.code(), Code::permission_denied) << link.status().message();
  EXPECT_FALSE(impostor.heard.empty());
  EXPECT_EQ(impostor.heard.find("a token"), std::string::npos);
}

TEST_P(StoreHostTest, tells_another_version_so) {
  open();
  Stranger stranger(loop_, options_.socket_path);
  auto bytes = link::encode({.kind = link::SessionKind::ask});
  bytes[offsetof(link::session_format::Message, version)] = std::byte{9};
  stranger.say(bytes);
  ASSERT_TRUE(eventually([&] { return !stranger.heard.empty(); }));
  EXPECT_EQ(stranger.heard.front().reason.code(), Code::unsupported);
}

}  // namespace
}  // namespace remora::server
