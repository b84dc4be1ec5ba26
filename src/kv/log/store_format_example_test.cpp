// The worked example of docs/formats/store.md: the bytes shown there are the bytes made here.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "kv/index/index_format.h"
#include "kv/log/log_testing.h"
#include "pmem/pmem_testing.h"

namespace remora::kv {
namespace {

std::string print(const char* format, auto value) {
  char text[32];
  const int length = std::snprintf(text, sizeof text, format, value);
  return std::string(text, static_cast<std::size_t>(length));
}

// As `hexdump -C` shows it, with "*" for rows that repeat the one before.
std::string dump(ConstBytes bytes, std::size_t from, std::size_t size) {
  std::string text;
  bool starred = false;
  for (std::size_t at = from; at < from + size; at += 16) {
    const ConstBytes row = bytes.subspan(at, 16);
    if (at != from && std::memcmp(row.data(), row.data() - 16, 16) == 0) {
      text += starred ? "" : "*\n";
      starred = true;
      continue;
    }
    starred = false;
    std::string letters;
    text += print("%08zx ", at);
    for (std::size_t i = 0; i < 16; ++i) {
      const auto byte = static_cast<unsigned>(row[i]);
      text += (i == 8 ? "  " : " ") + print("%02x", byte);
      letters += byte >= 0x20 && byte < 0x7f ? static_cast<char>(byte) : '.';
    }
    text += "  |" + letters + "|\n";
  }
  return text;
}

class StoreFormatExample : public testing::Test {
 protected:
  StoreFormatExample() : pool_(std::move(Pool::create(region_, {})).value()) {
    log_ = std::move(Log::create(machine_.host, *pool_, {"efactory", 0})).value();
    first_ = put("apple", "red");
    second_ = put("apple", "green", Link{first_.offset, false});
    log_->set_next(log_->at(first_.offset), Link{second_.offset, false});
    log_->set_durable(log_->at(first_.offset));
  }
  Placed put(std::string_view key, std::string_view value, Link previous = {}) {
    const auto object = new_object(as_bytes(key), as_bytes(value), ++sequence_, previous);
    const Placed placed = *log_->append(object);
    std::ranges::copy(as_bytes(value), placed.value.begin());
    return placed;
  }
  void expect_in_document(const char* part, ConstBytes bytes, Offset from, std::size_t size) {
    const std::string expected = dump(bytes, from, size);
    EXPECT_NE(document().find(expected), std::string::npos)
        << "docs/formats/store.md does not show the " << part << " as it is:\n"
        << expected;
  }
  static const std::string& document() {
    static const std::string text = [] {
      std::ifstream file(REMORA_SOURCE "/docs/formats/store.md");
      return std::string(std::istreambuf_iterator<char>(file), {});
    }();
    return text;
  }

  FakeRegion region_{pool_format::smallest_pool_bytes, Granularity::cache_line};
  LogMachine machine_{region_};
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<Log> log_;
  Placed first_;
  Placed second_;
  std::uint64_t sequence_ = 0;
};

TEST_F(StoreFormatExample, shows_the_superblock) {
  const Offset superblock = *pool_->root(store_format::root_name);
  expect_in_document("superblock", region_.bytes(), superblock, store_format::superblock_bytes(1));
}

TEST_F(StoreFormatExample, shows_two_versions_of_an_object) {
  EXPECT_EQ(second_.offset, first_.offset + first_.size_bytes);
  expect_in_document("objects", region_.bytes(), first_.offset, 256);
}

TEST_F(StoreFormatExample, shows_an_entry_of_the_index) {
  const IndexEntry entry{(IndexGeometry{1, 4}).tag(as_bytes("apple")),
                         {encode(Place{second_.offset, second_.size_bytes, false, false}), 0},
                         0};
  expect_in_document("index entry", object_bytes(entry), 0, sizeof entry);
}

}  // namespace
}  // namespace remora::kv
