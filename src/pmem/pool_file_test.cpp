#include "pmem/pool_file.h"

#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <string>

#include "pmem/pmem_testing.h"

namespace remora {
namespace {

namespace fs = std::filesystem;
using pool_format::Header;

constexpr std::uint64_t smallest_bytes = pool_format::smallest_pool_bytes;

void put_content(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

// An object with that text under that root, persistent when this returns.
Status put_text(Pool& pool, const std::string& root, const std::string& text) {
  REMORA_TRY_RESULT(offset, pool.reserve(text.size()));
  std::memcpy(pool.object(*offset).data(), text.data(), text.size());
  Transaction transaction;
  REMORA_TRY(transaction.publish_sealed(*offset, text.size()));
  REMORA_TRY(transaction.set_root(root, *offset));
  Result<Ticket> ticket = pool.commit(transaction);
  return ticket.ok() ? pool.wait(*ticket) : ticket.status();
}

std::string text_at(Pool& pool, const std::string& root, std::size_t size) {
  Result<Offset> offset = pool.root(root);
  return offset.ok() ? std::string(as_text(pool.object(*offset).first(size))) : "no such root";
}

class PoolFileTest : public testing::TestWithParam<bool> {
 protected:
  bool on_disk() const { return GetParam(); }
  void SetUp() override {
    if (on_disk() && !disk_place()) {
      GTEST_SKIP() << "every folder for tests is in memory here";
    }
    folder_ = std::make_unique<TestFolder>(on_disk() ? *disk_place() : memory_place());
    path_ = folder_->file("pool");
  }
  void create_with_greeting() {
    Result<PoolFile> file = PoolFile::create(path_, smallest_bytes, Media::automatic);
    ASSERT_TRUE(file.ok()) << file.status().message();
    ASSERT_TRUE(put_text(file->pool(), "greeting", "hello").ok());
  }
  void expect_greeting() {
    Result<PoolFile> file = PoolFile::open(path_, Media::automatic);
    ASSERT_TRUE(file.ok()) << file.status().message();
    EXPECT_EQ(text_at(file->pool(), "greeting", 5), "hello");
  }
  // Every way to open refuses the file, say its name and why, and leave it as it is.
  void expect_refused(Code code, const std::string& why) {
    const std::string before = content_of(path_);
    for (const bool inspect : {false, true}) {
      Result<PoolFile> file =
          inspect ? PoolFile::inspect(path_) : PoolFile::open(path_, Media::automatic);
      EXPECT_EQ(file.code(), code);
      const std::string message(file.status().message());
      EXPECT_NE(message.find(path_), std::string::npos) << message;
      EXPECT_NE(message.find(why), std::string::npos) << message;
    }
    EXPECT_EQ(PoolFile::verify(path_).code(), code);
    EXPECT_TRUE(content_of(path_) == before) << "a refusal changed the file";
  }
  // A sound pool whose header is changed, with a checksum that is right again if asked for.
  void create_with_header(void (*change)(Header&), bool forge_checksum) {
    create_with_greeting();
    std::string content = content_of(path_);
    Header header;
    std::memcpy(&header, content.data(), sizeof header);
    change(header);
    if (forge_checksum) {
      header.checksum = pool_format::checksum_of(header);
    }
    std::memcpy(content.data(), &header, sizeof header);
    put_content(path_, content);
  }

  std::unique_ptr<TestFolder> folder_;
  std::string path_;
};

INSTANTIATE_TEST_SUITE_P(Places, PoolFileTest, testing::Bool(),
                         [](const auto& place) { return place.param ? "on_disk" : "in_memory"; });

TEST_P(PoolFileTest, data_survives_closing_and_opening) {
  create_with_greeting();
  expect_greeting();
  expect_greeting();
}

TEST_P(PoolFileTest, opening_fills_the_holes_of_a_restored_copy) {
  create_with_greeting();
  const auto size_bytes = fs::file_size(path_);
  std::string content = content_of(path_);
  content.resize(content.find_last_not_of('\0') + 1);
  put_content(path_, content);
  fs::resize_file(path_, size_bytes);
  struct stat facts {};
  ASSERT_EQ(stat(path_.c_str(), &facts), 0);
  ASSERT_LT(facts.st_blocks * 512, static_cast<std::int64_t>(size_bytes));
  expect_greeting();
  ASSERT_EQ(stat(path_.c_str(), &facts), 0);
  EXPECT_GE(facts.st_blocks * 512, static_cast<std::int64_t>(size_bytes));
}

TEST_P(PoolFileTest, the_region_says_what_it_is) {
  Result<PoolFile> file = PoolFile::create(path_, smallest_bytes, Media::automatic);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->region().strategy().survives_power_cut, on_disk());
  EXPECT_EQ(file->file().path(), path_);
}

TEST_P(PoolFileTest, data_survives_a_process_that_is_killed_after_wait) {
  ASSERT_TRUE(PoolFile::create(path_, smallest_bytes, Media::automatic).ok());
  const int ended = in_child([this] {
    Result<PoolFile> file = PoolFile::open(path_, Media::automatic);
    const bool put = file.ok() && put_text(file->pool(), "greeting", "hello").ok();
    return put ? raise(SIGKILL) : 1;
  });
  ASSERT_EQ(ended, -SIGKILL);
  expect_greeting();
}

TEST_P(PoolFileTest, data_survives_a_process_that_ends_without_closing) {
  ASSERT_TRUE(PoolFile::create(path_, smallest_bytes, Media::automatic).ok());
  const int ended = in_child([this] {
    Result<PoolFile> file = PoolFile::open(path_, Media::automatic);
    return file.ok() && put_text(file->pool(), "greeting", "hello").ok() ? 0 : 1;
  });
  ASSERT_EQ(ended, 0);
  expect_greeting();
}

TEST_P(PoolFileTest, every_pool_has_a_name_of_its_own) {
  Result<PoolFile> first = PoolFile::create(path_, smallest_bytes, Media::automatic);
  Result<PoolFile> second = PoolFile::create(path_ + "2", smallest_bytes, Media::automatic);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE(first->pool().header().uuid, second->pool().header().uuid);
  EXPECT_EQ(first->pool().header().uuid[6] >> 4, 4);
  EXPECT_EQ(first->pool().header().uuid[8] >> 6, 2);
}

TEST_P(PoolFileTest, the_size_is_rounded_down_to_whole_blocks) {
  Result<PoolFile> file = PoolFile::create(path_, smallest_bytes + 4095, Media::automatic);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(fs::file_size(path_), smallest_bytes);
}

TEST_P(PoolFileTest, create_refuses_impossible_sizes) {
  for (const std::uint64_t size : {std::uint64_t{0}, smallest_bytes - 1,
                                   pool_format::largest_pool_bytes + 1, ~std::uint64_t{0}}) {
    Result<PoolFile> file = PoolFile::create(path_, size, Media::automatic);
    EXPECT_EQ(file.code(), Code::invalid_argument);
    EXPECT_NE(std::string(file.status().message()).find("256 KiB to 64 TiB"), std::string::npos)
        << file.status().message();
    EXPECT_TRUE(folder_->empty());
  }
}

TEST_P(PoolFileTest, create_leaves_an_existing_file_alone) {
  put_content(path_, "precious");
  EXPECT_EQ(PoolFile::create(path_, smallest_bytes, Media::automatic).code(), Code::already_exists);
  EXPECT_EQ(content_of(path_), "precious");
}

TEST_P(PoolFileTest, a_failed_create_leaves_no_file) {
  const Media impossible = on_disk() ? Media::dram : Media::dax;
  EXPECT_FALSE(PoolFile::create(path_, smallest_bytes, impossible).ok());
  EXPECT_TRUE(folder_->empty());
}

TEST_P(PoolFileTest, a_pool_larger_than_its_disk_is_refused) {
  Result<PoolFile> file =
      PoolFile::create(path_, pool_format::largest_pool_bytes, Media::automatic);
  EXPECT_EQ(file.code(), Code::no_space);
  EXPECT_TRUE(folder_->empty());
}

TEST_P(PoolFileTest, refuses_a_file_that_is_not_there) {
  EXPECT_EQ(PoolFile::open(path_, Media::automatic).code(), Code::not_found);
  EXPECT_EQ(PoolFile::inspect(path_).code(), Code::not_found);
  EXPECT_TRUE(folder_->empty());
}

TEST_P(PoolFileTest, refuses_a_file_that_is_no_pool) {
  put_content(path_, "#!/bin/sh\necho not a pool\n" + std::string(smallest_bytes, 'x'));
  expect_refused(Code::invalid_argument, "not a Remora pool");
  put_content(path_, "short");
  expect_refused(Code::invalid_argument, "not a Remora pool");
}

TEST_P(PoolFileTest, refuses_a_file_whose_creation_was_interrupted) {
  put_content(path_, std::string(smallest_bytes, '\0'));
  expect_refused(Code::damaged, "with zeros");
  put_content(path_, "");
  expect_refused(Code::damaged, "with zeros");
}

TEST_P(PoolFileTest, refuses_a_damaged_magic) {
  create_with_header([](Header& header) { header.magic[7] = 'X'; }, true);
  expect_refused(Code::invalid_argument, "not a Remora pool");
}

TEST_P(PoolFileTest, refuses_another_version) {
  create_with_header([](Header& header) { header.version = 9; }, true);
  expect_refused(Code::unsupported, "format version 9");
}

TEST_P(PoolFileTest, refuses_a_damaged_header) {
  create_with_header([](Header& header) { header.table ^= 0x1000; }, false);
  expect_refused(Code::damaged, "checksum is wrong");
}

TEST_P(PoolFileTest, refuses_a_forged_header) {
  create_with_header([](Header& header) { header.block_count = ~std::uint64_t{0}; }, true);
  expect_refused(Code::damaged, "no layout of this version");
}

TEST_P(PoolFileTest, refuses_a_truncated_file) {
  create_with_greeting();
  const std::string content = content_of(path_);
  for (const std::size_t size : {content.size() - 1, content.size() / 2, sizeof(Header)}) {
    put_content(path_, content.substr(0, size));
    expect_refused(Code::damaged, "truncated");
  }
  put_content(path_, content.substr(0, sizeof(Header) - 1));
  expect_refused(Code::damaged, "damaged header");
  put_content(path_, content);
  expect_greeting();
}

TEST_P(PoolFileTest, refuses_what_is_not_a_regular_file) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  for (const std::string& path : {path_, folder_->path().string()}) {
    EXPECT_EQ(PoolFile::open(path, Media::automatic).code(), Code::invalid_argument);
    EXPECT_EQ(PoolFile::inspect(path).code(), Code::invalid_argument);
  }
}

TEST_P(PoolFileTest, a_pool_in_use_is_refused_to_other_processes) {
  create_with_greeting();
  Result<PoolFile> owner = PoolFile::open(path_, Media::automatic);
  ASSERT_TRUE(owner.ok());
  const std::string before = content_of(path_);
  EXPECT_EQ(
      in_child([this] { return static_cast<int>(PoolFile::open(path_, Media::automatic).code()); }),
      static_cast<int>(Code::in_use));
  EXPECT_EQ(in_child([this] { return static_cast<int>(PoolFile::inspect(path_).code()); }),
            static_cast<int>(Code::in_use));
  EXPECT_TRUE(content_of(path_) == before);
  EXPECT_EQ(text_at(owner->pool(), "greeting", 5), "hello");
}

constexpr int cannot_become_nobody = 200;

// Root may open anything, so the child becomes somebody else.
int code_as_nobody(const std::function<Code()>& attempt) {
  constexpr id_t nobody = 65534;
  return in_child([&attempt] {
    if (geteuid() == 0 &&
        (setgroups(0, nullptr) != 0 || setgid(nobody) != 0 || setuid(nobody) != 0)) {
      return cannot_become_nobody;
    }
    return static_cast<int>(attempt());
  });
}

TEST_P(PoolFileTest, a_pool_of_another_user_is_refused) {
  create_with_greeting();
  const std::string before = content_of(path_);
  fs::permissions(folder_->path(), fs::perms::all);
  fs::permissions(path_, fs::perms::none);
  const int opened =
      code_as_nobody([this] { return PoolFile::open(path_, Media::automatic).code(); });
  const int inspected = code_as_nobody([this] { return PoolFile::inspect(path_).code(); });
  if (opened == cannot_become_nobody) {
    GTEST_SKIP() << "root here cannot become another user, and nothing is forbidden to root";
  }
  EXPECT_EQ(opened, static_cast<int>(Code::permission_denied));
  EXPECT_EQ(inspected, static_cast<int>(Code::permission_denied));
  fs::permissions(path_, fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_TRUE(content_of(path_) == before);
}

TEST_P(PoolFileTest, a_folder_of_another_user_is_refused) {
  fs::permissions(folder_->path(), fs::perms::owner_read | fs::perms::owner_exec);
  const int created = code_as_nobody(
      [this] { return PoolFile::create(path_, smallest_bytes, Media::automatic).code(); });
  fs::permissions(folder_->path(), fs::perms::owner_all);
  if (created == cannot_become_nobody) {
    GTEST_SKIP() << "root here cannot become another user, and nothing is forbidden to root";
  }
  EXPECT_EQ(created, static_cast<int>(Code::permission_denied));
  EXPECT_TRUE(folder_->empty());
}

TEST_P(PoolFileTest, a_file_longer_than_its_pool_is_served) {
  create_with_greeting();
  put_content(path_, content_of(path_) + std::string(4096, 'z'));
  expect_greeting();
}

TEST_P(PoolFileTest, verifying_looks_at_the_header_and_changes_nothing) {
  create_with_greeting();
  const std::string before = content_of(path_);
  EXPECT_TRUE(PoolFile::verify(path_).ok());
  EXPECT_TRUE(content_of(path_) == before);
  EXPECT_EQ(PoolFile::verify(folder_->file("nothing")).code(), Code::not_found);
}

TEST_P(PoolFileTest, inspecting_shows_the_data_and_changes_no_byte) {
  create_with_greeting();
  const std::string before = content_of(path_);
  {
    Result<PoolFile> view = PoolFile::inspect(path_);
    ASSERT_TRUE(view.ok()) << view.status().message();
    EXPECT_EQ(view->pool().replayed_records(), 1u);
    EXPECT_EQ(text_at(view->pool(), "greeting", 5), "hello");
    EXPECT_EQ(view->pool().usage().object_count, 1u);
    EXPECT_FALSE(view->region().strategy().survives_power_cut);
    EXPECT_TRUE(put_text(view->pool(), "mine", "stays here").ok());
  }
  EXPECT_TRUE(content_of(path_) == before);
  expect_greeting();
}

TEST_P(PoolFileTest, inspectors_exclude_owners_only) {
  create_with_greeting();
  Result<PoolFile> first = PoolFile::inspect(path_);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(in_child([this] { return static_cast<int>(PoolFile::inspect(path_).code()); }),
            static_cast<int>(Code::ok));
  EXPECT_EQ(
      in_child([this] { return static_cast<int>(PoolFile::open(path_, Media::automatic).code()); }),
      static_cast<int>(Code::in_use));
}

}  // namespace
}  // namespace remora
