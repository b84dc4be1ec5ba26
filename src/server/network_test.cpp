// A store on the network: who gets in, what works there, and what happens when one side goes.
#include <gtest/gtest.h>

#include <string>

#include "runtime/poll_loop.h"
#include "server/store_host.h"
#include "server/store_link.h"

namespace remora::server {
namespace {

constexpr const char* write_token = "a token that may write";
constexpr const char* read_token = "a token that may read";

class StoreOnNetwork : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    options_.listen = fabric::nic::IpEndpoint{fabric::nic::parse_address(GetParam()).value(), 0};
    options_.pool_bytes = 8 << 20;
    options_.access.tokens = {{write_token, Role::write}, {read_token, Role::read}};
  }
  void open_store() {
    Result<std::unique_ptr<StoreHost>> host = StoreHost::open(loop_, options_);
    ASSERT_TRUE(host.ok()) << host.status().message();
    host_ = std::move(host).value();
  }
  Result<std::unique_ptr<StoreLink>> join(const std::string& token) {
    StoreLinkOptions options;
    options.network = host_->network_endpoint();
    options.token = token;
    options.client.buffer_bytes = 4 << 20;
    return loop_.block_on(StoreLink::connect(loop_, "", options));
  }
  Status put_text(StoreLink& link, const std::string& key, const std::string& value) {
    return loop_.block_on(link.store().put(as_bytes(key), as_bytes(value)));
  }
  std::string get_text(StoreLink& link, const std::string& key) {
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
  EXPECT_EQ(loop_.block_on((*one)->wire_taken()), LocalFabric::roce);
  const Result<Facts> facts = loop_.block_on((*one)->stat());
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ(find_fact(*facts, "clients_roce"), "2");
  EXPECT_EQ(loop_.block_on((*one)->stop()).code(), Code::permission_denied);
}

TEST_P(StoreOnNetwork, nobody_gets_in_without_a_token) {
  options_.access.others = Role::write;
  open_store();
  EXPECT_EQ(join("").code(), Code::permission_denied) << "the same user, but from the network";
  EXPECT_EQ(join("some other token").code(), Code::permission_denied);
  EXPECT_TRUE(some_day([&] { return host_->links() == 0; }));
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

}  // namespace
}  // namespace remora::server
