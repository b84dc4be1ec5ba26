// remora pool create | info | check: what they print, what they refuse, and that looking changes
// nothing.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "pmem/pool_checks.h"
#include "pmem/pool_file.h"
#include "tests/cli/cli_testing.h"
#include "tests/support/files.h"

namespace remora {
namespace {

using testing::HasSubstr;

// On a disk, where the folder for temporary files may be in memory. It comes from the build.
constexpr const char* on_disk = REMORA_DISK_FOLDER;
constexpr const char* in_memory = "/dev/shm";

class PoolCommand : public testing::Test {
 protected:
  // A pool of the smallest size.
  static void make(const std::string& path) {
    ASSERT_EQ(remora_command({"pool", "create", path, "--size", "256K"}).exit_status, kept);
  }

  // Both commands that look refuse the file in the same way and leave every byte of it.
  static void expect_refused_untouched(const std::string& path, int exit_status,
                                       const std::string& message) {
    const std::string before = read_text(path);
    for (const char* command : {"info", "check"}) {
      SCOPED_TRACE(command);
      expect_refusal(remora_command({"pool", command, path}), exit_status, message);
      expect_refusal(remora_command({"pool", command, path, "--json"}), exit_status, message);
    }
    EXPECT_EQ(read_text(path), before);
  }

  // `pool check` finds this, says so in both forms with status 1, and leaves every byte.
  static void expect_found(const std::string& path, const std::string& finding) {
    const std::string before = read_text(path);
    const Outcome text = remora_command({"pool", "check", path});
    EXPECT_EQ(text.exit_status, broken);
    EXPECT_THAT(text.out, HasSubstr("damaged: "));
    EXPECT_THAT(text.out, HasSubstr(finding));
    const Outcome outcome = remora_command({"pool", "check", path, "--json"});
    EXPECT_EQ(outcome.exit_status, broken);
    const nlohmann::json json = json_of(outcome);
    EXPECT_EQ(json.at("path"), path);
    EXPECT_EQ(json.at("sound"), false);
    ASSERT_EQ(json.at("findings").size(), 1u);
    EXPECT_THAT(json.at("findings")[0].get<std::string>(), HasSubstr(finding));
    EXPECT_EQ(read_text(path), before);
  }

  static pool_format::Header header_of(const std::string& path) {
    pool_format::Header header{};
    std::memcpy(&header, read_text(path).data(), sizeof header);
    return header;
  }

  TestFolder folder_{on_disk};
  const std::string path_ = folder_.file("one.pool");
};

TEST_F(PoolCommand, create_makes_a_pool_and_describes_it) {
  const Outcome outcome = remora_command({"pool", "create", path_, "--size", "1M"});
  EXPECT_EQ(outcome.exit_status, kept);
  EXPECT_EQ(outcome.err, "");
  for (const char* line : {"pool         ", "format       version 2", "uuid         ",
                           "size         1 MiB", "objects      0 in 0 B", "granularity  page",
                           "survives a power cut", "roots        none"}) {
    EXPECT_THAT(outcome.out, HasSubstr(line));
  }
  EXPECT_EQ(std::filesystem::file_size(path_), 1u << 20);
}

TEST_F(PoolCommand, create_info_and_check_agree_in_json) {
  const Outcome created = remora_command({"pool", "create", path_, "--size", "256K", "--json"});
  ASSERT_EQ(created.exit_status, kept);
  const nlohmann::json json = json_of(created);
  EXPECT_EQ(json.at("path"), path_);
  EXPECT_EQ(json.at("format_version"), 2);
  EXPECT_EQ(json.at("size_bytes"), 256 << 10);
  EXPECT_EQ(json.at("object_count"), 0);
  EXPECT_EQ(json.at("roots"), nlohmann::json::array());
  EXPECT_EQ(json.at("granularity"), "page");
  EXPECT_EQ(json.at("survives_power_cut"), true);
  EXPECT_EQ(json.at("uuid").get<std::string>().size(), 36u);

  EXPECT_EQ(json_of(remora_command({"pool", "info", path_, "--json"})), json);

  const nlohmann::json checked = json_of(remora_command({"pool", "check", path_, "--json"}));
  EXPECT_EQ(checked.at("sound"), true);
  EXPECT_EQ(checked.at("findings"), nlohmann::json::array());
  EXPECT_EQ(checked.at("uuid"), json.at("uuid"));
}

TEST_F(PoolCommand, info_and_check_leave_a_sound_pool_untouched) {
  make(path_);
  const std::string before = read_text(path_);
  EXPECT_THAT(remora_command({"pool", "info", path_}).out, HasSubstr("size         256 KiB"));
  const Outcome checked = remora_command({"pool", "check", path_});
  EXPECT_EQ(checked.exit_status, kept);
  EXPECT_THAT(checked.out, HasSubstr("sound: "));
  EXPECT_EQ(read_text(path_), before);
}

TEST_F(PoolCommand, info_shows_what_a_program_left_without_replaying_it_on_the_file) {
  {
    Result<PoolFile> file = PoolFile::create(path_, 256 << 10, Media::file);
    ASSERT_TRUE(file.ok());
    Pool& pool = file->pool();
    const Result<Offset> offset = pool.reserve(100);
    ASSERT_TRUE(offset.ok());
    Transaction transaction;
    ASSERT_TRUE(transaction.publish(*offset, 100).ok());
    ASSERT_TRUE(transaction.set_root("greeting", *offset).ok());
    const Result<Ticket> ticket = pool.commit(transaction);
    ASSERT_TRUE(ticket.ok());
    ASSERT_TRUE(pool.wait(*ticket).ok());
  }
  const std::string before = read_text(path_);
  const nlohmann::json json = json_of(remora_command({"pool", "info", path_, "--json"}));
  EXPECT_EQ(json.at("object_count"), 1);
  EXPECT_EQ(json.at("object_bytes"), 128);
  EXPECT_EQ(json.at("replayed_records"), 1);
  EXPECT_EQ(json.at("roots"), nlohmann::json::array({"greeting"}));
  EXPECT_THAT(remora_command({"pool", "info", path_}).out, HasSubstr("\n  greeting\n"));
  EXPECT_EQ(remora_command({"pool", "check", path_}).exit_status, kept);
  EXPECT_EQ(read_text(path_), before);
}

TEST_F(PoolCommand, a_pool_in_memory_is_called_volatile) {
  const TestFolder memory(in_memory);
  const std::string path = memory.file("one.pool");
  const nlohmann::json json =
      json_of(remora_command({"pool", "create", path, "--size", "256K", "--json"}));
  EXPECT_EQ(json.at("granularity"), "cache line");
  EXPECT_EQ(json.at("survives_power_cut"), false);
  EXPECT_EQ(json_of(remora_command({"pool", "info", path, "--json"})), json);
  EXPECT_THAT(remora_command({"pool", "info", path}).out, HasSubstr("lost in a power cut"));
  EXPECT_EQ(remora_command({"pool", "check", path}).exit_status, kept);
}

TEST_F(PoolCommand, the_medium_can_be_chosen_where_it_is_possible) {
  const TestFolder memory(in_memory);
  const Outcome paged = remora_command(
      {"pool", "create", memory.file("paged.pool"), "--size", "256K", "--media", "file", "--json"});
  EXPECT_EQ(json_of(paged).at("granularity"), "page");
  EXPECT_EQ(json_of(paged).at("survives_power_cut"), false);

  expect_refusal(remora_command({"pool", "create", path_, "--media", "dram"}), usage,
                 "put it below /dev/shm, or use media file");
  expect_refusal(remora_command({"pool", "create", memory.file("dax.pool"), "--size", "256K",
                                 "--media", "dax"}),
                 environment, "use media file");
  EXPECT_TRUE(folder_.empty());
  EXPECT_FALSE(std::filesystem::exists(memory.file("dax.pool")));
}

TEST_F(PoolCommand, create_never_overwrites) {
  write_text(path_, "something dear to somebody");
  expect_refusal(remora_command({"pool", "create", path_}), usage, "exists already");
  EXPECT_EQ(read_text(path_), "something dear to somebody");
  expect_refusal(remora_command({"pool", "create", folder_.path()}), usage, "exists already");
}

TEST_F(PoolCommand, create_leaves_nothing_where_there_is_no_space) {
  expect_refusal(remora_command({"pool", "create", path_, "--size", "60T"}), environment,
                 "cannot create " + path_);
  EXPECT_TRUE(folder_.empty());
  const TestFolder memory(in_memory);
  expect_refusal(remora_command({"pool", "create", memory.file("one.pool"), "--size", "60T"}),
                 environment, "choose a smaller size or another disk");
  EXPECT_TRUE(memory.empty());
}

TEST_F(PoolCommand, create_needs_a_folder) {
  expect_refusal(remora_command({"pool", "create", folder_.file("none/one.pool")}), usage,
                 "No such file or directory");
}

TEST_F(PoolCommand, create_needs_permission) {
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0555));
  expect_refusal(remora_command({"pool", "create", path_}, {"", true}), environment,
                 "Permission denied");
  EXPECT_TRUE(folder_.empty());
}

TEST_F(PoolCommand, a_pool_that_may_not_be_read_is_refused) {
  make(path_);
  const std::string before = read_text(path_);
  std::filesystem::permissions(path_, std::filesystem::perms::none);
  for (const char* command : {"info", "check"}) {
    expect_refusal(remora_command({"pool", command, path_}, {"", true}), environment,
                   "Permission denied");
  }
  std::filesystem::permissions(path_, std::filesystem::perms(0600));
  EXPECT_EQ(read_text(path_), before);
}

TEST_F(PoolCommand, a_missing_file_is_answered_with_how_to_make_one) {
  for (const char* command : {"info", "check"}) {
    expect_refusal(remora_command({"pool", command, path_}), usage,
                   "create a pool with: remora pool create " + path_);
  }
  EXPECT_TRUE(folder_.empty());
}

TEST_F(PoolCommand, a_folder_is_refused) {
  for (const char* command : {"info", "check"}) {
    expect_refusal(remora_command({"pool", command, folder_.path()}), usage,
                   "is neither a regular file nor a device DAX");
  }
}

TEST_F(PoolCommand, a_file_that_is_no_pool_is_refused) {
  write_text(path_, std::string(256 << 10, 'x'));
  expect_refused_untouched(path_, usage, "is not a Remora pool");
  write_text(path_, "short");
  expect_refused_untouched(path_, usage, "is not a Remora pool");
}

TEST_F(PoolCommand, a_pool_whose_creation_was_interrupted_is_refused) {
  write_text(path_, std::string(256 << 10, '\0'));
  expect_refused_untouched(path_, environment, "remove it and create it again");
  write_text(path_, "");
  expect_refused_untouched(path_, environment, "remove it and create it again");
}

TEST_F(PoolCommand, a_pool_of_another_version_is_refused) {
  make(path_);
  overwrite(path_, offsetof(pool_format::Header, version), std::string("\x07\0\0\0", 4));
  expect_refused_untouched(path_, environment,
                           "version 7, and this program reads versions 1 to 3; open it with a "
                           "matching release");
}

TEST_F(PoolCommand, a_truncated_pool_is_refused) {
  make(path_);
  std::filesystem::resize_file(path_, 128 << 10);
  expect_refused_untouched(path_, environment, "is truncated");
  std::filesystem::resize_file(path_, 100);
  expect_refused_untouched(path_, environment, "restore the pool from a backup");
}

TEST_F(PoolCommand, a_damaged_header_is_refused) {
  make(path_);
  overwrite(path_, offsetof(pool_format::Header, block_count), "!");
  expect_refused_untouched(path_, environment, "damaged header");
}

TEST_F(PoolCommand, a_pool_that_another_process_owns_is_refused) {
  make(path_);
  const int descriptor = open(path_.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(flock(descriptor, LOCK_EX | LOCK_NB), 0);
  expect_refused_untouched(path_, environment, "stop the process that has it open first");
  close(descriptor);
  EXPECT_EQ(remora_command({"pool", "check", path_}).exit_status, kept);
}

TEST_F(PoolCommand, check_finds_a_summary_that_names_nothing) {
  make(path_);
  overwrite(path_, header_of(path_).summary, "\x01");
  expect_found(path_, "the block table is damaged at block 0");
}

TEST_F(PoolCommand, check_finds_a_chunk_that_cannot_be) {
  make(path_);
  const pool_format::Header header = header_of(path_);
  overwrite(path_, header.summary, "\x01");
  overwrite(path_, header.table + 2 * sizeof(pool_format::BlockEntry), "\x09");
  expect_found(path_, "the block table is damaged at block 2: an entry whose checksum is wrong");
}

TEST_F(PoolCommand, check_finds_a_root_that_leads_nowhere) {
  make(path_);
  const std::array<char, 48> name = {'l', 'o', 's', 't', '\x1b', '['};
  const pool_format::Root root{pool_format::in_use_word(0, 123456, name), 123456, name};
  overwrite(path_, header_of(path_).roots, as_text(object_bytes(root)));
  expect_found(path_, "the root 'lost?[' leads nowhere");
}

}  // namespace
}  // namespace remora
