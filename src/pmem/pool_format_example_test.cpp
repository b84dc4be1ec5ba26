// The worked example of docs/formats/pool.md: the bytes shown there are the bytes made here.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "pmem/log_record.h"
#include "pmem/pmem_testing.h"
#include "pmem/pool.h"

namespace remora {
namespace {

constexpr pool_format::Uuid example_uuid = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x46, 0x77,
                                            0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};
constexpr std::uint64_t content_bytes = 100;

template <typename... T>
std::string print(const char* format, T... values) {
  char text[32];
  const int length = std::snprintf(text, sizeof text, format, values...);
  return std::string(text, static_cast<std::size_t>(length));
}

std::string row(std::size_t at, ConstBytes bytes) {
  std::string text = print("%08zx ", at);
  std::string letters;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned>(bytes[i]);
    text += (i % 8 == 0 && i != 0 ? "  " : " ") + print("%02x", byte);
    letters += byte >= 0x20 && byte < 0x7f ? static_cast<char>(byte) : '.';
  }
  return text + "  |" + letters + "|\n";
}

// As `hexdump -C` shows it: rows of 16 bytes, "*" for rows that repeat the one before.
std::string dump(ConstBytes pool, std::size_t from, std::size_t size) {
  std::string text;
  bool starred = false;
  for (std::size_t at = from; at < from + size; at += 16) {
    const bool repeats =
        at != from && std::memcmp(pool.data() + at, pool.data() + at - 16, 16) == 0;
    text += !repeats ? row(at, pool.subspan(at, 16)) : starred ? "" : "*\n";
    starred = repeats;
  }
  return text;
}

class PoolFormatExample : public testing::Test {
 protected:
  PoolFormatExample() : pool_(std::move(Pool::create(region_, example_uuid)).value()) {
    const Offset offset = *pool_->reserve(content_bytes);
    for (std::uint64_t i = 0; i < content_bytes; ++i) {
      pool_->object(offset)[i] = static_cast<std::byte>(i);
    }
    Transaction transaction;
    EXPECT_TRUE(transaction.publish_sealed(offset, content_bytes).ok());
    EXPECT_TRUE(transaction.set_root("hello", offset).ok());
    Result<Ticket> ticket = pool_->commit(transaction);
    EXPECT_TRUE(ticket.ok() && pool_->wait(*ticket).ok());
  }

  // The document has this part of the pool, byte for byte.
  void expect_in_document(const char* part, Offset from, std::size_t size) {
    const std::string expected = dump(region_.bytes(), from, size);
    EXPECT_NE(document().find(expected), std::string::npos)
        << "docs/formats/pool.md does not show the " << part << " as it is:\n"
        << expected;
  }
  static const std::string& document() {
    static const std::string text = [] {
      std::ifstream file(REMORA_SOURCE "/docs/formats/pool.md");
      return std::string(std::istreambuf_iterator<char>(file), {});
    }();
    return text;
  }

  FakeRegion region_{pool_format::smallest_pool_bytes, Granularity::cache_line};
  std::unique_ptr<Pool> pool_;
};

TEST_F(PoolFormatExample, the_document_is_there) {
  EXPECT_FALSE(document().empty());
}

TEST_F(PoolFormatExample, shows_the_header) {
  expect_in_document("header", 0, sizeof(pool_format::Header));
}

TEST_F(PoolFormatExample, shows_the_root) {
  expect_in_document("root", pool_->header().roots, sizeof(pool_format::Root));
}

TEST_F(PoolFormatExample, shows_the_log_control) {
  expect_in_document("log control", pool_->header().log_control, sizeof(pool_format::LogControl));
}

TEST_F(PoolFormatExample, shows_the_record) {
  const Offset slot = pool_->header().log_slots + pool_format::log_slot_bytes;
  const pool_format::RecordHead head = log_record::head_of(region_.data() + slot);
  ASSERT_EQ(head.sequence, 1u);
  expect_in_document("record", slot, log_record::record_bytes(head));
}

TEST_F(PoolFormatExample, shows_the_summary) {
  expect_in_document("summary", pool_->header().summary, 16);
}

TEST_F(PoolFormatExample, shows_the_table_entry) {
  expect_in_document("table entry", pool_->header().table, sizeof(pool_format::BlockEntry));
}

TEST_F(PoolFormatExample, shows_the_object) {
  expect_in_document("object", pool_->header().blocks, 128);
}

}  // namespace
}  // namespace remora
