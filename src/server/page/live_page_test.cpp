#include "server/page/live_page.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>

#include "base/folder_testing.h"
#include "link/store_link.h"
#include "runtime/poll_loop.h"
#include "server/patience_testing.h"

namespace remora::server {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

class LivePageTest : public testing::Test {
 protected:
  LivePageTest() {
    StoreHostOptions options;
    options.socket_path = folder_.file("socket");
    options.pool_bytes = 4 << 20;
    be_patient(options.server);
    host_ = StoreHost::open(loop_, options).value();
    page_ = LivePage::open(loop_, {.address = "127.0.0.1:0"}, *host_, nullptr).value();
  }
  ~LivePageTest() override { ::close(socket_); }

  void ask(const std::string& path) {
    ::close(socket_);
    heard_.clear();
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(page_->port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    (void)::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    (void)loop_.run_for(1'000'000);
    const std::string request = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    EXPECT_EQ(::send(socket_, request.data(), request.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(request.size()));
  }
  // Until this was heard, or the other side closes.
  bool hears(const std::string& what) {
    std::array<char, 4096> buffer;
    for (int i = 0; i < 60'000 && heard_.find(what) == std::string::npos; ++i) {
      const ssize_t got = ::recv(socket_, buffer.data(), buffer.size(), 0);
      heard_.append(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
      if (got == 0) {
        break;
      }
      (void)loop_.run_for(1'000'000);
    }
    return heard_.find(what) != std::string::npos;
  }
  std::string body(const std::string& path) {
    ask(path);
    EXPECT_FALSE(hears("nothing that anybody says"));
    return heard_.substr(std::min(heard_.find("\r\n\r\n") + 4, heard_.size()));
  }
  // The next event.
  json event() {
    heard_.erase(0, heard_.find("data: ") == std::string::npos ? 0 : heard_.find("data: ") + 1);
    EXPECT_TRUE(hears("data: ") && hears("\n\n"));
    const std::size_t begin = heard_.find("data: ") + 6;
    EXPECT_TRUE(hears("}\n\n"));
    return json::parse(heard_.substr(begin, heard_.find("\n\n", begin) - begin));
  }
  static double at(const json& history, const json& row, const std::string& column) {
    const auto& columns = history["columns"];
    const auto found = std::ranges::find(columns, json(column));
    EXPECT_NE(found, columns.end()) << column;
    return row[static_cast<std::size_t>(found - columns.begin()) + 1].get<double>();
  }
  void put(const std::string& key) {
    if (!link_) {
      link_ = loop_.block_on(link::StoreLink::connect(loop_, folder_.file("socket"), {})).value();
    }
    EXPECT_TRUE(loop_.block_on(link_->store().put(as_bytes(key), as_bytes("value"))).ok());
  }

  const TestFolder folder_;
  PollLoop loop_;
  std::unique_ptr<StoreHost> host_;
  std::unique_ptr<LivePage> page_;
  std::unique_ptr<link::StoreLink> link_;
  int socket_ = -1;
  std::string heard_;
};

TEST_F(LivePageTest, is_one_document_that_loads_nothing_from_elsewhere) {
  const std::string page = body("/");
  EXPECT_THAT(heard_, StartsWith("HTTP/1.1 200 OK\r\nContent-Type: text/html"));
  EXPECT_THAT(heard_, HasSubstr("Content-Security-Policy: default-src 'none'"));
  EXPECT_THAT(page, StartsWith("<!doctype html>"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
  for (const char* elsewhere : {"src=\"", "@import", "url(", "//cdn", "https:"}) {
    EXPECT_EQ(page.find(elsewhere), std::string::npos) << elsewhere;
  }
}

TEST_F(LivePageTest, tells_once_a_second_what_the_store_does) {
  const json history = json::parse(body("/history"));
  ASSERT_EQ(history["columns"].size(), history["grows"].size());
  ask("/events");
  put("one");
  json told = event();
  for (int i = 0; i < 10 && at(history, told["row"], "remora_keys") == 0; ++i) {
    told = event();
  }
  EXPECT_EQ(told["row"].size(), history["columns"].size() + 1);
  EXPECT_EQ(told["facts"]["engine"], "efactory");
  EXPECT_EQ(told["facts"]["health"], "ok");
  EXPECT_EQ(at(history, told["row"], "remora_keys"), 1);
  EXPECT_EQ(at(history, told["row"], "remora_requests{op=\"put\"}"), 1);
  put("two");
  json next = event();
  for (int i = 0; i < 10 && at(history, next["row"], "remora_keys") == 1; ++i) {
    next = event();
  }
  EXPECT_EQ(at(history, next["row"], "remora_keys"), 2);
  EXPECT_GT(next["row"][0].get<std::uint64_t>(), 1'500'000'000u) << "seconds since 1970";
}

TEST_F(LivePageTest, remembers_what_was) {
  put("one");
  ask("/events");
  (void)event();
  (void)event();
  const json history = json::parse(body("/history"));
  ASSERT_GE(history["rows"].size(), 2u);
  EXPECT_EQ(at(history, history["rows"].back(), "remora_keys"), 1);
}

TEST_F(LivePageTest, says_whether_all_is_well) {
  EXPECT_EQ(body("/health"), "ok\n");
}

}  // namespace
}  // namespace remora::server
