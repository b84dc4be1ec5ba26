// Least rights: what a client of a role may do to a store on either wire of one host, by the
// store's own requests and by verbs of its own.
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

constexpr const char* reader_token = "a token for reading";
constexpr const char* writer_token = "a token for writing";

class RolesTest : public testing::TestWithParam<link::WireKind> {
 protected:
  RolesTest() {
    StoreHostOptions options;
    options.socket_path = folder_.file("socket");
    options.pool_path = folder_.file("pool");
    options.fabric = GetParam();
    options.pool_bytes = 1 << 20;
    options.access.tokens = {{reader_token, link::Role::read}, {writer_token, link::Role::write}};
    be_patient(options.server);
    keep_marks(options.server);
    Result<std::unique_ptr<StoreHost>> host = StoreHost::open(loop_, options);
    EXPECT_TRUE(host.ok()) << host.status().message();
    host_ = std::move(host).value();
  }

  Result<std::unique_ptr<link::StoreLink>> connect(const std::string& token) {
    link::StoreLinkOptions options;
    options.fabric = GetParam();
    options.token = token;
    return loop_.block_on(link::StoreLink::connect(loop_, folder_.file("socket"), options));
  }
  std::string get(link::StoreLink& link, const std::string& key) {
    std::string value(100, '\0');
    const Result<std::size_t> size =
        loop_.block_on(link.store().get(as_bytes(key), std::as_writable_bytes(std::span(value))));
    return size.ok() ? value.substr(0, *size) : std::string(to_string(size.code()));
  }
  // Everything that was put is persistent, and flagged so: from here the pool stands still.
  void settle() {
    for (int i = 0; i < 5000 && host_->store().busy(); ++i) {
      (void)loop_.run_for(1'000'000);
    }
    EXPECT_FALSE(host_->store().busy());
    (void)loop_.run_for(20'000'000);
  }
  std::string pool_bytes() {
    std::ifstream file(folder_.file("pool"), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const TestFolder folder_;
  PollLoop loop_;
  std::unique_ptr<StoreHost> host_;
};

INSTANTIATE_TEST_SUITE_P(fabrics, RolesTest,
                         testing::Values(link::WireKind::ring, link::WireKind::mapped),
                         [](const testing::TestParamInfo<link::WireKind>& param) {
                           return std::string(to_string(param.param));
                         });

TEST_P(RolesTest, tokens_give_their_roles) {
  EXPECT_EQ((*connect(""))->role(), "admin");
  EXPECT_EQ((*connect(reader_token))->role(), "read");
  EXPECT_EQ((*connect(writer_token))->role(), "write");
  EXPECT_EQ(connect("a token of nobody").code(), Code::permission_denied);
}

TEST_P(RolesTest, a_reader_reads_and_cannot_change) {
  const auto writer = std::move(connect(writer_token)).value();
  const auto reader = std::move(connect(reader_token)).value();
  EXPECT_TRUE(loop_.block_on(writer->store().put(as_bytes("key"), as_bytes("value"))).ok());
  EXPECT_EQ(get(*reader, "key"), "value");
  const Status put = loop_.block_on(reader->store().put(as_bytes("key"), as_bytes("other")));
  EXPECT_EQ(put.code(), Code::permission_denied);
  EXPECT_EQ(loop_.block_on(reader->store().del(as_bytes("key"))).code(), Code::permission_denied);
  EXPECT_EQ(get(*reader, "key"), "value");
  EXPECT_EQ(get(*writer, "key"), "value");
}

TEST_P(RolesTest, only_an_admin_stops_the_store) {
  EXPECT_EQ(loop_.block_on((*connect(writer_token))->stop()).code(), Code::permission_denied);
  EXPECT_FALSE(host_->stop_wanted());
  EXPECT_TRUE(loop_.block_on((*connect(""))->stop()).ok());
  EXPECT_TRUE(host_->stop_wanted());
}

TEST_P(RolesTest, tells_which_wire_is_taken) {
  const auto reader = std::move(connect(reader_token)).value();
  EXPECT_EQ(loop_.block_on(reader->wire_taken()), GetParam());
  const Facts facts = loop_.block_on(reader->stat()).value();
  EXPECT_EQ(find_fact(facts, "clients"), "1");
  EXPECT_EQ(find_fact(facts, "clients_mapped"), GetParam() == link::WireKind::mapped ? "1" : "0");
  EXPECT_LT(link::to_text(facts).size(), link::session_format::tail_bytes_max);
}

TEST_P(RolesTest, a_reader_cannot_change_a_byte_by_verbs_of_its_own) {
  const auto writer = std::move(connect(writer_token)).value();
  EXPECT_TRUE(loop_.block_on(writer->store().put(as_bytes("key"), as_bytes("value"))).ok());
  settle();
  const std::string before = pool_bytes();
  for (std::size_t which = 0; which < changes({}).size(); ++which) {
    for (const bool in_index : {false, true}) {
      Intruder intruder(loop_, GetParam(), folder_.file("socket"), reader_token);
      const std::uint64_t object = intruder.find("key")->object_offset;
      intruder.read_some(object);
      EXPECT_EQ(intruder.goes_by_itself(), GetParam() == link::WireKind::mapped);
      const fabric::RemoteAddress there = in_index ? intruder.index() : intruder.pool(object);
      EXPECT_EQ(intruder.attempt(changes(there)[which]), fabric::WorkStatus::remote_access_error)
          << which;
      EXPECT_TRUE(pool_bytes() == before) << which;
    }
  }
  EXPECT_EQ(get(*writer, "key"), "value");
}

// What the store keeps before the first block: header, roots, redo log, block table.
TEST_P(RolesTest, nobody_reaches_what_the_pool_keeps_of_itself) {
  const auto writer = std::move(connect(writer_token)).value();
  EXPECT_TRUE(loop_.block_on(writer->store().put(as_bytes("key"), as_bytes("value"))).ok());
  settle();
  const std::string before = pool_bytes();
  const auto blocks =
      load<std::uint64_t>(as_bytes(before).data() + offsetof(pool_format::Header, blocks));
  for (const std::uint64_t offset : {std::uint64_t{0}, blocks / 2, blocks - 8}) {
    for (const char* token : {reader_token, writer_token}) {
      for (const fabric::Opcode opcode : {fabric::Opcode::read, fabric::Opcode::write}) {
        Intruder intruder(loop_, GetParam(), folder_.file("socket"), token);
        intruder.read_some(intruder.find("key")->object_offset);
        EXPECT_EQ(intruder.attempt({.opcode = opcode, .remote = intruder.pool(offset)}),
                  fabric::WorkStatus::remote_access_error)
            << offset;
      }
    }
  }
  EXPECT_TRUE(pool_bytes() == before);
}

// The same attempt with the rights for it succeeds: the tests above can fail.
TEST_P(RolesTest, a_writer_writes_what_it_was_granted) {
  Intruder intruder(loop_, GetParam(), folder_.file("socket"), writer_token);
  const auto granted = intruder.ask_for_space("key", 1000, 'v').value();
  intruder.read_some(granted.object_offset);
  EXPECT_EQ(intruder.write(granted.value_offset, 1000, 'v'), fabric::WorkStatus::success);
  EXPECT_EQ(intruder.flush(granted.value_offset, 1000), fabric::WorkStatus::success);
  EXPECT_TRUE(intruder.persist(granted.object_offset, granted.sequence).ok());
  EXPECT_EQ(intruder.goes_by_itself(), GetParam() == link::WireKind::mapped);
}

// Where the device of the store executes, a writer reaches no more than that. By the short way,
// which only processes of the store's own user get, it reaches every block.
TEST_P(RolesTest, a_writer_reaches_the_values_of_others_by_the_short_way_alone) {
  const auto writer = std::move(connect(writer_token)).value();
  EXPECT_TRUE(loop_.block_on(writer->store().put(as_bytes("key"), as_bytes("value"))).ok());
  settle();
  Intruder intruder(loop_, GetParam(), folder_.file("socket"), writer_token);
  const std::uint64_t object = intruder.find("key")->object_offset;
  intruder.read_some(object);
  const bool is_mapped = GetParam() == link::WireKind::mapped;
  EXPECT_EQ(intruder.write(object + 72, 8, 'x'),
            is_mapped ? fabric::WorkStatus::success : fabric::WorkStatus::remote_access_error);
}

}  // namespace
}  // namespace remora::server
