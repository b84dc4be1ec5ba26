// A store on the network: who gets in, what works there, and what happens when one side goes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "fabric/nic/wire/roce/control_stream.h"
#include "fabric/nic/wire/roce/net_message.h"
#include "link/store_link.h"
#include "runtime/poll_loop.h"
#include "runtime/when_all.h"
#include "server/patience_testing.h"
#include "server/store_host.h"

namespace remora::server {
namespace {

constexpr const char* write_token = "a token that may write";
constexpr const char* read_token = "a token that may read";

class StoreOnNetwork : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    options_.listen =
        fabric::nic::roce::IpEndpoint{fabric::nic::roce::parse_address(GetParam()).value(), 0};
    options_.pool_bytes = 8 << 20;
    be_patient(options_.server);
    options_.access.tokens = {{write_token, link::Role::write}, {read_token, link::Role::read}};
  }
  void open_store() {
    Result<std::unique_ptr<StoreHost>> host = StoreHost::open(loop_, options_);
    ASSERT_TRUE(host.ok()) << host.status().message();
    host_ = std::move(host).value();
  }
  Result<std::unique_ptr<link::StoreLink>> join(const std::string& token) {
    return loop_.block_on(link::StoreLink::connect(loop_, "", link_options(token)));
  }
  link::StoreLinkOptions link_options(const std::string& token) const {
    link::StoreLinkOptions options;
    options.network = host_->network_endpoint();
    options.token = token;
    options.client.buffer_bytes = 4 << 20;
    be_patient(options.client);
    return options;
  }
  Status put_text(link::StoreLink& link, const std::string& key, const std::string& value) {
    return loop_.block_on(link.store().put(as_bytes(key), as_bytes(value)));
  }
  std::string get_text(link::StoreLink& link, const std::string& key) {
    std::string value(2 << 20, '\0');
    const Result<std::size_t> size =
        loop_.block_on(link.store().get(as_bytes(key), std::as_writable_bytes(std::span(value))));
    return size.ok() ? value.substr(0, *size) : std::string(to_string(size.code()));
  }
  template <typename Predicate>
  bool some_day(Predicate predicate) {
    for (int i = 0; i < 10'000 && !predicate(); ++i) {
      (void)loop_.run_for(1'000'000);
    }
    return predicate();
  }

  StoreHostOptions options_;
  PollLoop loop_;
  std::unique_ptr<StoreHost> host_;
};

INSTANTIATE_TEST_SUITE_P(Loopback, StoreOnNetwork, testing::Values("127.0.0.1", "::1"),
                         [](const auto& one) {
                           return std::string(one.param) == "::1" ? "v6" : "v4";
                         });

TEST_P(StoreOnNetwork, clients_with_a_token_put_and_get) {
  open_store();
  auto one = join(write_token);
  ASSERT_TRUE(one.ok()) << one.status().message();
  auto other = join(read_token);
  ASSERT_TRUE(other.ok()) << other.status().message();
  EXPECT_EQ((*one)->role(), "write");
  EXPECT_EQ((*other)->role(), "read");
  EXPECT_TRUE(put_text(**one, "key", "value").ok());
  EXPECT_EQ(get_text(**other, "key"), "value");
  const std::string large(1'500'000, 'z');
  EXPECT_TRUE(put_text(**one, "large", large).ok());
  EXPECT_TRUE(get_text(**other, "large") == large);
  EXPECT_FALSE(put_text(**other, "key", "no").ok()) << "it may read alone";
  EXPECT_EQ(loop_.block_on((*one)->wire_taken()), link::WireKind::roce);
  const Result<Facts> facts = loop_.block_on((*one)->stat());
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ(find_fact(*facts, "clients_roce"), "2");
  EXPECT_EQ(loop_.block_on((*one)->stop()).code(), Code::permission_denied);
}

TEST_P(StoreOnNetwork, nobody_gets_in_without_a_token) {
  options_.access.others = link::Role::write;
  open_store();
  EXPECT_EQ(join("").code(), Code::permission_denied) << "the same user, but from the network";
  EXPECT_EQ(join("some other token").code(), Code::permission_denied);
  EXPECT_TRUE(some_day([&] { return host_->links() == 0; }));
}

// Nobody finds a token by trying, and who tries does not keep the store busy.
TEST_P(StoreOnNetwork, an_address_that_tried_too_many_wrong_tokens_has_to_wait) {
  open_store();
  for (std::uint32_t i = 0; i < link::WrongTries::most; ++i) {
    const auto link = join("a wrong token " + std::to_string(i));
    EXPECT_NE(link.status().message().find("no such token"), std::string::npos);
  }
  const auto link = join(write_token);
  EXPECT_EQ(link.code(), Code::permission_denied);
  EXPECT_NE(link.status().message().find("too many wrong tokens"), std::string::npos);
}

TEST_P(StoreOnNetwork, nobody_gets_in_where_there_are_no_tokens) {
  options_.access.tokens.clear();
  open_store();
  const auto link = join(write_token);
  EXPECT_EQ(link.code(), Code::permission_denied);
  EXPECT_NE(link.status().message().find("access.tokens"), std::string::npos);
}

TEST_P(StoreOnNetwork, a_client_that_goes_is_forgotten) {
  open_store();
  {
    auto link = join(write_token);
    ASSERT_TRUE(link.ok());
    EXPECT_TRUE(put_text(**link, "key", "value").ok());
    EXPECT_EQ(host_->links(), 1u);
  }
  EXPECT_TRUE(some_day([&] { return host_->links() == 0 && host_->store().clients() == 0; }));
  auto again = join(write_token);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(get_text(**again, "key"), "value");
}

TEST_P(StoreOnNetwork, clients_find_out_that_the_store_is_gone) {
  open_store();
  auto link = join(write_token);
  ASSERT_TRUE(link.ok());
  host_.reset();
  EXPECT_EQ(put_text(**link, "key", "value").code(), Code::closed);
}

using fabric::nic::roce::NetKind;

// A peer that is played by hand, up to where the store says that it is ready.
class HalfIntroduced {
 public:
  HalfIntroduced(const StoreHost& host, std::uint8_t id)
      : stream_(std::move(fabric::nic::roce::connect_stream(*host.network_endpoint())).value()) {
    const auto udp_port = static_cast<std::uint16_t>(9 + id);
    say({.kind = NetKind::reply, .mtu_bytes = 1024, .udp_port = udp_port, .gid = {7, id}});
  }
  void settle() { say({.kind = NetKind::settled, .mtu_bytes = 1024}); }
  // Whether it was the last thing that the store said.
  bool has_heard(NetKind kind) {
    ConstBytes bytes;
    while (stream_.receive(bytes) == fabric::nic::roce::ControlStream::Got::message) {
      const Result<fabric::nic::roce::NetMessage> message =
          fabric::nic::roce::decode_net_message(bytes);
      last_ = message.ok() ? *message : fabric::nic::roce::NetMessage{};
    }
    return last_.kind == kind;
  }
  Code reason() const { return last_.reason.code(); }

 private:
  void say(const fabric::nic::roce::NetMessage& message) {
    EXPECT_TRUE(stream_.send(encode(message)).ok());
  }

  fabric::nic::roce::ControlStream stream_;
  fabric::nic::roce::NetMessage last_;
};

// The daemon waits until nobody is there.
TEST_P(StoreOnNetwork, who_is_half_introduced_when_the_doors_close_gets_no_link) {
  open_store();
  HalfIntroduced peer(*host_, 1);
  ASSERT_TRUE(some_day([&] { return peer.has_heard(NetKind::ready); }));
  host_->close_doors();
  peer.settle();
  EXPECT_TRUE(some_day([&] { return peer.has_heard(NetKind::refusal); }));
  EXPECT_EQ(peer.reason(), Code::closed);
  EXPECT_EQ(host_->links(), 0u);
  EXPECT_EQ(host_->links_total(), 0u);
}

// Peers that have a link, and never say what they want.
class SilentPeers {
 public:
  template <typename SomeDay>
  void add(const StoreHost& host, SomeDay some_day) {
    peers_.emplace_back(host, static_cast<std::uint8_t>(peers_.size()));
    ASSERT_TRUE(some_day([this] {
      return peers_.back().has_heard(NetKind::ready) || peers_.back().has_heard(NetKind::refusal);
    }));
    peers_.back().settle();
  }
  Code reason_of_last() const { return peers_.back().reason(); }

 private:
  std::vector<HalfIntroduced> peers_;
};

TEST_P(StoreOnNetwork, silent_peers_take_no_place_of_those_who_have_a_token) {
  options_.server.most_clients = 3;  // one is the store's own user's
  open_store();
  SilentPeers silent;
  for (std::size_t i = 1; i <= 8; ++i) {
    silent.add(*host_, [this](auto predicate) { return some_day(predicate); });
    ASSERT_TRUE(some_day([&] { return host_->links() == i; }));
  }
  const auto one = join(write_token);
  ASSERT_TRUE(one.ok()) << one.status().message();
  const auto other = join(read_token);
  ASSERT_TRUE(other.ok()) << other.status().message();
  EXPECT_EQ(join(write_token).code(), Code::no_space) << "places are still counted";
}

TEST_P(StoreOnNetwork, silent_peers_are_few_of_one_address_and_soon_gone) {
  options_.strangers_of_address = 2;
  options_.stranger_timeout_ns = 50'000'000;
  open_store();
  SilentPeers silent;
  for (std::uint64_t i = 1; i <= 2; ++i) {
    silent.add(*host_, [this](auto predicate) { return some_day(predicate); });
    ASSERT_TRUE(some_day([&] { return host_->links_total() == i; }));
  }
  EXPECT_TRUE(some_day([&] { return host_->links() == 0; }));
  options_.stranger_timeout_ns = 60'000'000'000;
  open_store();
  SilentPeers patient;
  for (std::size_t i = 1; i <= 2; ++i) {
    patient.add(*host_, [this](auto predicate) { return some_day(predicate); });
    ASSERT_TRUE(some_day([&] { return host_->links() == i; }));
  }
  patient.add(*host_, [this](auto predicate) { return some_day(predicate); });
  EXPECT_EQ(patient.reason_of_last(), Code::no_space);
  EXPECT_EQ(host_->links(), 2u);
}

TEST_P(StoreOnNetwork, who_was_silent_longest_makes_way) {
  options_.strangers = 2;
  options_.stranger_timeout_ns = 60'000'000'000;
  open_store();
  SilentPeers silent;
  for (std::uint64_t i = 1; i <= 3; ++i) {
    silent.add(*host_, [this](auto predicate) { return some_day(predicate); });
    ASSERT_TRUE(some_day([&] { return host_->links_total() == i; }));
  }
  EXPECT_TRUE(some_day([&] { return host_->links() == 2; }));
  EXPECT_TRUE(join(write_token).ok());
}

TEST_P(StoreOnNetwork, of_two_that_come_at_once_the_one_without_a_place_hears_why) {
  options_.server.most_clients = 2;
  open_store();
  std::vector<Task<Result<std::unique_ptr<link::StoreLink>>>> both;
  for (int i = 0; i < 2; ++i) {
    both.push_back(link::StoreLink::connect(loop_, "", link_options(write_token)));
  }
  const auto outcomes = loop_.block_on(when_all(std::move(both)));
  ASSERT_NE(outcomes[0].ok(), outcomes[1].ok());
  const Status& refused = outcomes[outcomes[0].ok() ? 1 : 0].status();
  EXPECT_EQ(refused.code(), Code::no_space) << refused.message();
}

// A store at its socket and on the network at once.
class StoreOnBoth : public StoreOnNetwork {
 protected:
  void SetUp() override {
    StoreOnNetwork::SetUp();
    socket_ = testing::TempDir() + "both-" + std::to_string(::getpid());
    options_.socket_path = socket_;
  }
  Result<std::unique_ptr<link::StoreLink>> join_here(
      link::WireKind fabric = link::WireKind::mapped) {
    link::StoreLinkOptions options;
    options.fabric = fabric;
    options.client.buffer_bytes = 4 << 20;
    return loop_.block_on(link::StoreLink::connect(loop_, socket_, options));
  }
  std::string fact(link::StoreLink& link, const char* name) {
    const Result<Facts> facts = loop_.block_on(link.stat());
    return facts.ok() ? find_fact(*facts, name).value_or("") : std::string();
  }
  std::string socket_;
};

INSTANTIATE_TEST_SUITE_P(Loopback, StoreOnBoth, testing::Values("127.0.0.1", "::1"),
                         [](const auto& one) {
                           return std::string(one.param) == "::1" ? "v6" : "v4";
                         });

TEST_P(StoreOnBoth, clients_of_either_kind_see_what_the_others_put) {
  open_store();
  auto here = join_here();
  ASSERT_TRUE(here.ok()) << here.status().message();
  auto by_ring = join_here(link::WireKind::ring);
  ASSERT_TRUE(by_ring.ok()) << by_ring.status().message();
  auto afar = join(write_token);
  ASSERT_TRUE(afar.ok()) << afar.status().message();
  EXPECT_EQ((*here)->role(), "admin");
  EXPECT_EQ((*afar)->role(), "write");
  const std::string large(1'500'000, 'z');
  for (link::StoreLink* putter : {here->get(), by_ring->get(), afar->get()}) {
    const std::string text = "of " + std::to_string(reinterpret_cast<std::uintptr_t>(putter));
    EXPECT_TRUE(put_text(*putter, "key", text).ok());
    EXPECT_TRUE(put_text(*putter, "large", large + text).ok());
    for (link::StoreLink* getter : {here->get(), by_ring->get(), afar->get()}) {
      EXPECT_EQ(get_text(*getter, "key"), text);
      EXPECT_TRUE(get_text(*getter, "large") == large + text);
    }
  }
  EXPECT_EQ(loop_.block_on((*here)->wire_taken()), link::WireKind::mapped);
  EXPECT_EQ(loop_.block_on((*by_ring)->wire_taken()), link::WireKind::ring);
  EXPECT_EQ(loop_.block_on((*afar)->wire_taken()), link::WireKind::roce);
  EXPECT_EQ(fact(**here, "clients_mapped"), "1");
  EXPECT_EQ(fact(**here, "clients_ring"), "1");
  EXPECT_EQ(fact(**here, "clients_roce"), "1");
}

TEST_P(StoreOnBoth, only_those_from_the_network_need_a_token) {
  open_store();
  EXPECT_EQ(join("").code(), Code::permission_denied);
  EXPECT_TRUE(join_here().ok());
}

TEST_P(StoreOnBoth, a_store_without_tokens_still_serves_its_machine) {
  options_.access.tokens.clear();
  open_store();
  EXPECT_EQ(join(write_token).code(), Code::permission_denied);
  EXPECT_TRUE(join_here().ok());
}

TEST_P(StoreOnBoth, the_network_leaves_places_for_the_stores_own_user) {
  options_.server.most_clients = 4;
  open_store();
  std::vector<std::unique_ptr<link::StoreLink>> links;
  for (int i = 0; i < 3; ++i) {
    auto link = join(write_token);
    ASSERT_TRUE(link.ok()) << link.status().message();
    links.push_back(std::move(link).value());
  }
  EXPECT_EQ(join(write_token).code(), Code::no_space);
  EXPECT_TRUE(join_here().ok());
}

TEST_P(StoreOnBoth, one_that_goes_leaves_the_others_alone) {
  open_store();
  auto here = join_here();
  auto afar = join(write_token);
  ASSERT_TRUE(here.ok() && afar.ok());
  ASSERT_TRUE(put_text(**here, "key", "value").ok());
  afar->reset();
  EXPECT_TRUE(some_day([&] { return host_->links() == 1 && host_->store().clients() == 1; }));
  EXPECT_EQ(get_text(**here, "key"), "value");
  auto again = join(write_token);
  ASSERT_TRUE(again.ok());
  here->reset();
  EXPECT_TRUE(some_day([&] { return host_->links() == 1 && host_->store().clients() == 1; }));
  EXPECT_EQ(get_text(**again, "key"), "value");
  host_->close_doors();
  EXPECT_TRUE(some_day([&] { return host_->links() == 0; }));
  EXPECT_EQ(join_here().code(), Code::closed);
  EXPECT_EQ(join(write_token).code(), Code::closed);
}

}  // namespace
}  // namespace remora::server
