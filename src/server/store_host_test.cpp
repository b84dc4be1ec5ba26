#include "server/store_host.h"
#include "server/patience_testing.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/folder_testing.h"
#include "runtime/poll_loop.h"
#include "server/store_link.h"

namespace remora::server {
namespace {

ConstBytes bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// Host and clients share a loop: it runs both sides.
class StoreHostTest : public testing::TestWithParam<LocalFabric> {
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
  Result<std::unique_ptr<StoreLink>> connect(StoreLinkOptions options = {}) {
    options.fabric = GetParam();
    be_patient(options.client);
    return loop_.block_on(StoreLink::connect(loop_, options_.socket_path, options));
  }
  std::unique_ptr<StoreLink> connected() {
    Result<std::unique_ptr<StoreLink>> link = connect();
    EXPECT_TRUE(link.ok()) << link.status().message();
    return std::move(link).value();
  }
  Status put(StoreLink& link, const std::string& key, const std::string& value) {
    return loop_.block_on(link.store().put(bytes_of(key), bytes_of(value)));
  }
  std::string get(StoreLink& link, const std::string& key) {
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
                         testing::Values(LocalFabric::ring, LocalFabric::mapped),
                         [](const testing::TestParamInfo<LocalFabric>& param) {
                           return std::string(to_string(param.param));
                         });

TEST_P(StoreHostTest, clients_see_what_others_put) {
  open();
  std::unique_ptr<StoreLink> one = connected();
  std::unique_ptr<StoreLink> other = connected();
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
  std::unique_ptr<StoreLink> link = connected();
  host_.reset();
  EXPECT_TRUE(eventually([&] { return !link->store().failure().ok(); }));
  EXPECT_EQ(put(*link, "key", "value").code(), Code::closed);
}

TEST_P(StoreHostTest, refuses_the_wrong_engine) {
  open();
  const Result<std::unique_ptr<StoreLink>> link = connect({.engine = "abacus"});
  ASSERT_FALSE(link.ok());
  EXPECT_EQ(link.code(), Code::invalid_argument);
  options_.engine = "abacus";
  EXPECT_EQ(StoreHost::open(loop_, options_).code(), Code::invalid_argument);
}

TEST_P(StoreHostTest, refuses_more_clients_than_it_takes) {
  options_.server.most_clients = 1;
  open();
  std::unique_ptr<StoreLink> first = connected();
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
        wire_(fabric::nic::RingWire::create(loop, this).value()),
        nic_(loop, *wire_, dma_),
        link_(loop.block_on(wire_->connect(path)).value()) {}

  void say(ConstBytes bytes) { EXPECT_TRUE(wire_->send_control(link_, bytes).ok()); }
  fabric::Gid gid() const { return wire_->gid(); }

  std::vector<SessionMessage> heard;
  bool down = false;

 private:
  void control(fabric::nic::LinkId, ConstBytes bytes) override {
    heard.push_back(decode(bytes).value());
  }
  void link_down(fabric::nic::LinkId) override { down = true; }

  PollLoop& loop_;
  std::unique_ptr<fabric::nic::RingWire> wire_;
  fabric::nic::PlainDma dma_;
  fabric::nic::Nic nic_;
  fabric::nic::LinkId link_;
};

TEST_P(StoreHostTest, cuts_off_who_talks_nonsense) {
  open();
  std::unique_ptr<StoreLink> link = connected();
  Stranger stranger(loop_, options_.socket_path);
  stranger.say(bytes_of("nonsense"));
  EXPECT_TRUE(eventually([&] { return stranger.down; }));
  EXPECT_TRUE(put(*link, "key", "value").ok());
}

TEST_P(StoreHostTest, cuts_off_who_does_not_join) {
  options_.join_timeout_ns = 200'000'000;
  open();
  // Who stands still for so long while it joins is cut off as well.
  Result<std::unique_ptr<StoreLink>> joined = connect();
  for (int attempts = 0; attempts < 20 && !joined.ok(); ++attempts) {
    joined = connect();
  }
  ASSERT_TRUE(joined.ok()) << joined.status().message();
  const std::unique_ptr<StoreLink> link = std::move(joined).value();
  Stranger stranger(loop_, options_.socket_path);
  EXPECT_TRUE(eventually([&] { return stranger.down; }));
  EXPECT_TRUE(put(*link, "key", "value").ok());
}

TEST_P(StoreHostTest, refuses_queue_pairs_of_others_and_answers_with_the_reason) {
  open();
  Stranger stranger(loop_, options_.socket_path);
  const auto says_no = [&](const SessionMessage& message) {
    stranger.heard.clear();
    stranger.say(encode(message));
    return eventually([&] { return !stranger.heard.empty(); }) &&
           stranger.heard.front().kind == SessionKind::refusal;
  };
  const SessionMessage join{.kind = SessionKind::join,
                            .engine = "efactory",
                            .queue_pair = {.number = 5, .first_packet = 6, .gid = {7}}};
  EXPECT_TRUE(says_no(join));
  SessionMessage other_engine = join;
  other_engine.engine = "abacus";
  EXPECT_TRUE(says_no(other_engine));
  EXPECT_TRUE(says_no({.kind = SessionKind::welcome}));
  EXPECT_EQ(host_->store().clients(), 0u);
  SessionMessage right = join;
  right.queue_pair.gid = stranger.gid();
  EXPECT_FALSE(says_no(right));
  EXPECT_TRUE(says_no(right));  // a second time
}

// Listens where a store is expected, and lets everybody in.
class Impostor final : public fabric::nic::LinkOwner {
 public:
  Impostor(PollLoop& loop, const std::string& path)
      : wire_(fabric::nic::RingWire::create(loop, this).value()), nic_(loop, *wire_, dma_) {
    EXPECT_TRUE(wire_->listen(path, 0600).ok());
  }
  std::string heard;

 private:
  void control(fabric::nic::LinkId link, ConstBytes bytes) override {
    heard += as_text(bytes);
    SessionMessage answer = decode(bytes).value();
    answer.kind = answer.kind == SessionKind::ask ? SessionKind::offer : SessionKind::welcome;
    answer.engine = "efactory";
    answer.text = answer.kind == SessionKind::offer ? "" : "admin";
    EXPECT_TRUE(wire_->send_control(link, encode(answer)).ok());
  }

  std::unique_ptr<fabric::nic::RingWire> wire_;
  fabric::nic::PlainDma dma_;
  fabric::nic::Nic nic_;
};

TEST_P(StoreHostTest, an_impostor_hears_no_token_and_is_not_believed) {
  Impostor impostor(loop_, options_.socket_path);
  const auto link = connect({.token = "a token of some length"});
  EXPECT_EQ(link.code(), Code::permission_denied) << link.status().message();
  EXPECT_FALSE(impostor.heard.empty());
  EXPECT_EQ(impostor.heard.find("a token"), std::string::npos);
}

TEST_P(StoreHostTest, tells_another_version_so) {
  open();
  Stranger stranger(loop_, options_.socket_path);
  auto bytes = encode({.kind = SessionKind::ask});
  bytes[offsetof(session_format::Message, version)] = std::byte{9};
  stranger.say(bytes);
  ASSERT_TRUE(eventually([&] { return !stranger.heard.empty(); }));
  EXPECT_EQ(stranger.heard.front().reason.code(), Code::unsupported);
}

}  // namespace
}  // namespace remora::server
