// A hostile writer: it has the role write, gets space for values as others do, and then reaches for
// everything else. Not a byte changes that is not its own, the server lives, others notice nothing.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "base/folder_testing.h"
#include "link/store_link.h"
#include "pmem/pool_format.h"
#include "runtime/poll_loop.h"
#include "server/intruder_testing.h"
#include "server/patience_testing.h"
#include "server/store_host.h"

namespace remora::server {
namespace {

using fabric::WorkStatus;

constexpr const char* hostile_token = "a token that may write";

class HostileWriterTest : public testing::TestWithParam<link::WireKind> {
 protected:
  HostileWriterTest() {
    options_.socket_path = folder_.file("socket");
    options_.pool_path = folder_.file("pool");
    options_.fabric = link::WireKind::ring;
    if (GetParam() == link::WireKind::roce) {
      options_.listen =
          fabric::nic::roce::IpEndpoint{fabric::nic::roce::parse_address("127.0.0.1").value(), 0};
    }
    options_.pool_bytes = 1 << 20;
    options_.access.tokens = {{hostile_token, link::Role::write}};
    be_patient(options_.server);
    keep_marks(options_.server);
  }
  void open() {
    Result<std::unique_ptr<StoreHost>> host = StoreHost::open(loop_, options_);
    ASSERT_TRUE(host.ok()) << host.status().message();
    host_ = std::move(host).value();
    link::StoreLinkOptions options;
    options.fabric = link::WireKind::ring;
    options.token = hostile_token;
    be_patient(options.client);
    victim_ =
        loop_.block_on(link::StoreLink::connect(loop_, options_.socket_path, options)).value();
    for (int i = 0; i < 20; ++i) {
      put("victim " + std::to_string(i), std::string(3000, static_cast<char>('a' + i)));
    }
    settle();
  }
  std::unique_ptr<Intruder> intrude() {
    if (GetParam() == link::WireKind::roce) {
      return std::make_unique<Intruder>(loop_, *host_->network_endpoint(), hostile_token);
    }
    return std::make_unique<Intruder>(loop_, GetParam(), options_.socket_path, hostile_token);
  }

  void put(const std::string& key, const std::string& value) {
    Status status(Code::timed_out, "not tried");
    for (int i = 0; i < 1000 && status.code() == Code::timed_out; ++i) {  // the machine may be slow
      status = loop_.block_on(victim_->store().put(as_bytes(key), as_bytes(value)));
    }
    EXPECT_TRUE(status.ok()) << key << ": " << status.message();
  }
  std::string get(const std::string& key) {
    std::string value(8000, '\0');
    const Result<std::size_t> size = loop_.block_on(
        victim_->store().get(as_bytes(key), std::as_writable_bytes(std::span(value))));
    return size.ok() ? value.substr(0, *size) : std::string(to_string(size.code()));
  }
  // Others notice nothing: they read what they wrote, and write more.
  void expect_others_well() {
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(get("victim " + std::to_string(i)), std::string(3000, static_cast<char>('a' + i)));
    }
    put("after", "all");
    EXPECT_EQ(get("after"), "all");
    EXPECT_TRUE(victim_->store().failure().ok());
  }
  // Everything that came is persistent, and flagged so: from here the pool stands still.
  void settle() {
    for (int i = 0; i < 20'000 && host_->store().busy(); ++i) {
      (void)loop_.run_for(1'000'000);
    }
    EXPECT_FALSE(host_->store().busy());
  }
  std::string pool_bytes() {
    std::ifstream file(options_.pool_path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::uint64_t counter(std::string_view name) {
    for (const kv::StoreServer::Counter& one : host_->store().counters()) {
      if (one.name == name) {
        return one.value;
      }
    }
    return 0;
  }
  // Until the predicate holds; patient, since the machine may be busy.
  template <typename Predicate>
  bool some_day(Predicate predicate) {
    for (int i = 0; i < 20'000 && !predicate(); ++i) {
      (void)loop_.run_for(1'000'000);
    }
    return predicate();
  }
  const TestFolder folder_;
  StoreHostOptions options_;
  PollLoop loop_;
  std::unique_ptr<StoreHost> host_;
  std::unique_ptr<link::StoreLink> victim_;
};

INSTANTIATE_TEST_SUITE_P(wires, HostileWriterTest,
                         testing::Values(link::WireKind::ring, link::WireKind::roce),
                         [](const testing::TestParamInfo<link::WireKind>& param) {
                           return std::string(to_string(param.param));
                         });

TEST_P(HostileWriterTest, no_page_of_the_pool_is_changed_by_one_that_was_not_granted_it) {
  open();
  const std::string before = pool_bytes();
  const std::size_t verbs = changes({}).size();
  std::size_t attempts = 0;
  for (std::uint64_t page = 0; page < before.size() / page_bytes; ++page) {
    const auto intruder = intrude();
    // Somewhere in the page; atomics are aligned.
    const std::uint64_t offset = page * page_bytes + page * 72 % (page_bytes - 8) / 8 * 8;
    const fabric::SendWork work = changes(intruder->pool(offset))[page % verbs];
    EXPECT_EQ(intruder->attempt(work), WorkStatus::remote_access_error) << page;
    ++attempts;
  }
  EXPECT_EQ(attempts, 256U);
  EXPECT_TRUE(pool_bytes() == before);
  expect_others_well();
}

TEST_P(HostileWriterTest, a_write_as_large_as_the_pool_changes_nothing) {
  open();
  const std::string before = pool_bytes();
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{page_bytes} * 20}) {
    EXPECT_EQ(intrude()->write(offset, 60 * page_bytes, 'x'), WorkStatus::remote_access_error);
  }
  EXPECT_TRUE(pool_bytes() == before);
  expect_others_well();
}

TEST_P(HostileWriterTest, what_another_session_was_granted_is_out_of_reach) {
  open();
  const auto one = intrude();
  const auto granted = one->ask_for_space("one", 2000, 'v').value();
  const std::string before = pool_bytes();
  EXPECT_EQ(intrude()->write(granted.value_offset, 8, 'x'), WorkStatus::remote_access_error);
  EXPECT_EQ(intrude()->flush(granted.value_offset, 8), WorkStatus::remote_access_error);
  EXPECT_EQ(intrude()->persist(granted.object_offset, granted.sequence).code(), Code::not_found);
  EXPECT_TRUE(pool_bytes() == before);
  EXPECT_EQ(one->write(granted.value_offset, 2000, 'v'), WorkStatus::success);
  EXPECT_TRUE(one->persist(granted.object_offset, granted.sequence).ok());
  EXPECT_EQ(get("one"), std::string(2000, 'v'));
}

// Header and key lie before the value, another object's behind it.
TEST_P(HostileWriterTest, a_grant_is_the_value_and_not_a_byte_more) {
  open();
  for (const bool before_it : {true, false}) {
    const auto intruder = intrude();
    const auto granted = intruder->ask_for_space("mine", 2000, 'v').value();
    const std::string before = pool_bytes();
    EXPECT_EQ(before_it ? intruder->write(granted.value_offset - 1, 2000, 'x')
                        : intruder->write(granted.value_offset + 1, 2000, 'x'),
              WorkStatus::remote_access_error);
    EXPECT_TRUE(pool_bytes() == before);
  }
  expect_others_well();
}

TEST_P(HostileWriterTest, a_durable_value_takes_its_own_bytes_and_no_others) {
  open();
  const auto intruder = intrude();
  const auto granted = intruder->ask_for_space("mine", 2000, 'v').value();
  EXPECT_EQ(intruder->write(granted.value_offset, 2000, 'v'), WorkStatus::success);
  EXPECT_TRUE(intruder->persist(granted.object_offset, granted.sequence).ok());
  settle();
  const std::string before = pool_bytes();
  EXPECT_EQ(intruder->write(granted.value_offset, 2000, 'v'), WorkStatus::success);
  EXPECT_EQ(intruder->flush(granted.value_offset, 2000), WorkStatus::success);
  EXPECT_EQ(intruder->write(granted.value_offset, 2000, 'w'), WorkStatus::remote_access_error);
  EXPECT_TRUE(pool_bytes() == before);
  EXPECT_EQ(get("mine"), std::string(2000, 'v'));
}

// The space of a new pool is zeros: the value is whole before a byte of it was written.
TEST_P(HostileWriterTest, a_slow_client_whose_bytes_were_there_before_is_no_intruder) {
  open();
  const auto slow = intrude();
  const auto granted = slow->ask_for_space("zeros", 2000, '\0').value();
  settle();
  EXPECT_EQ(get("zeros"), std::string(2000, '\0'));
  EXPECT_EQ(slow->write(granted.value_offset, 2000, '\0'), WorkStatus::success);
  EXPECT_EQ(slow->flush(granted.value_offset, 2000), WorkStatus::success);
}

// Its version is given up; it may write until it has been told of a round.
TEST_P(HostileWriterTest, a_client_that_was_stopped_for_too_long_is_no_intruder) {
  options_.server.put_timeout_ns = 20'000'000;
  open();
  const auto stopped = intrude();
  const auto granted = stopped->ask_for_space("late", 2000, 'v').value();
  EXPECT_TRUE(some_day([&] { return counter("invalidated_versions") != 0; }));
  settle();
  EXPECT_EQ(stopped->write(granted.value_offset, 2000, 'v'), WorkStatus::success);
  EXPECT_EQ(stopped->flush(granted.value_offset, 2000), WorkStatus::success);
  EXPECT_EQ(get("late"), "not_found");
  expect_others_well();
}

TEST_P(HostileWriterTest, a_client_that_lost_to_a_newer_version_is_no_intruder) {
  open();
  const auto slow = intrude();
  const auto granted = slow->ask_for_space("raced", 2000, 'v').value();
  put("raced", std::string(3000, 'w'));
  settle();
  EXPECT_EQ(slow->write(granted.value_offset, 2000, 'v'), WorkStatus::success);
  EXPECT_EQ(slow->flush(granted.value_offset, 2000), WorkStatus::success);
  settle();
  EXPECT_EQ(get("raced"), std::string(3000, 'w'));
}

// It says that it arrived, and goes on writing where it may not any more.
TEST_P(HostileWriterTest, a_grant_from_before_a_round_is_gone_when_its_client_has_arrived) {
  open();
  const auto liar = intrude();
  const auto granted = liar->ask_for_space("freed", 2000, 'v').value();
  put("freed", "newer");
  // Every round waits for it.
  std::uint64_t arrived = 0;
  const std::uint64_t before = counter("cleanings") + counter("cleaned_parts");
  for (int i = 0; i < 3000 && counter("cleanings") + counter("cleaned_parts") == before; ++i) {
    const auto value = std::string(4000, 'f');
    const std::string key = "filling " + std::to_string(i % 3);
    Task<Status> filling = victim_->store().put(as_bytes(key), as_bytes(value));
    while (!filling.finished()) {
      (void)loop_.run_for(100'000);
      if (liar->round_told() != arrived) {
        arrived = liar->round_told();
        EXPECT_TRUE(liar->arrive().ok());
      }
    }
    EXPECT_TRUE(loop_.block_on(std::move(filling)).ok());
  }
  EXPECT_GT(arrived, 0U);
  settle();
  const std::string now = pool_bytes();
  EXPECT_EQ(liar->write(granted.value_offset, 2000, 'x'), WorkStatus::remote_access_error);
  EXPECT_TRUE(pool_bytes() == now);
  expect_others_well();
}

TEST_P(HostileWriterTest, a_grant_ends_with_its_session) {
  open();
  auto ended = intrude();
  const auto granted = ended->ask_for_space("left", 2000, 'v').value();
  const fabric::RemoteAddress there = ended->pool(granted.value_offset);
  ended.reset();
  EXPECT_TRUE(some_day([&] { return host_->store().clients() == 1; }));
  const std::string before = pool_bytes();
  EXPECT_EQ(intrude()->write(granted.value_offset, 8, 'x'), WorkStatus::remote_access_error);
  // With the key that was the other's.
  EXPECT_EQ(intrude()->attempt({.opcode = fabric::Opcode::write, .remote = there}),
            WorkStatus::remote_access_error);
  EXPECT_TRUE(pool_bytes() == before);
  expect_others_well();
}

// A value that looks like an object is none, whatever offset the client names.
TEST_P(HostileWriterTest, an_object_inside_of_a_value_is_not_believed) {
  open();
  const auto intruder = intrude();
  const auto granted = intruder->ask_for_space("mine", 4096, 'v').value();
  EXPECT_EQ(intruder->write(granted.value_offset, 4096, 'v'), WorkStatus::success);
  for (std::uint64_t inside = 64; inside < 4096; inside += 64) {
    const std::uint64_t offset = (granted.value_offset + inside) / 64 * 64;
    EXPECT_EQ(intruder->persist(offset, granted.sequence).code(), Code::not_found);
  }
  EXPECT_TRUE(intruder->persist(granted.object_offset, granted.sequence).ok());
}

TEST_P(HostileWriterTest, reads_reach_the_log_and_the_index_and_nothing_else) {
  open();
  const std::string bytes = pool_bytes();
  const auto blocks =
      load<std::uint64_t>(as_bytes(bytes).data() + offsetof(pool_format::Header, blocks));
  const std::uint64_t object = intrude()->find("victim 3")->object_offset;
  std::size_t readable = 0;
  for (std::uint64_t page = 0; page < bytes.size() / page_bytes; ++page) {
    const auto intruder = intrude();
    const WorkStatus status = intruder->attempt(
        {.opcode = fabric::Opcode::read, .remote = intruder->pool(page * page_bytes)});
    const bool is_read = status == WorkStatus::success;
    EXPECT_TRUE(is_read || status == WorkStatus::remote_access_error);
    EXPECT_FALSE(is_read && page * page_bytes < blocks) << page;
    EXPECT_TRUE(is_read || page != object / page_bytes);
    readable += is_read ? 1 : 0;
  }
  EXPECT_GT(readable, 0U);
  EXPECT_LT(readable, bytes.size() / page_bytes / 2);
}

}  // namespace
}  // namespace remora::server
