// remora pool check and salvage on stores that are damaged: what they find, what they save, and
// that they change nothing.
#include <filesystem>

#include "pmem/pool_format.h"
#include "tests/cli/served_store.h"

namespace remora {
namespace {

using testing::HasSubstr;
using testing::Not;

class DamagedStore : public ServedStore {
 protected:
  // Stopped in order, with some keys, an older version and a deletion.
  void SetUp() override {
    serve();
    for (int i = 0; i < 8; ++i) {
      told({"put", "key-" + std::to_string(i), "value of " + std::to_string(i)});
    }
    told({"put", "key-2", "newer value of 2"});
    told({"del", "key-3"});
    told({"stop"});
    EXPECT_EQ(server_->wait(), kept);
    bytes_ = read_text(pool());
  }

  // Changes one byte, so far from where the text is found last.
  void damage(const std::string& text, std::ptrdiff_t from = 0) {
    const std::size_t at = bytes_.rfind(text);
    ASSERT_NE(at, std::string::npos);
    char& byte = bytes_[at + static_cast<std::size_t>(from)];
    byte = static_cast<char>(byte ^ 0x10);
    write_text(pool(), bytes_);
  }

  std::string check(int exit_status) {
    const Outcome outcome = remora_command({"pool", "check", pool()});
    EXPECT_EQ(outcome.exit_status, exit_status) << outcome.out << outcome.err;
    EXPECT_EQ(read_text(pool()), bytes_);
    return outcome.out;
  }
  std::string salvage(int exit_status) {
    const Outcome outcome = remora_command({"pool", "salvage", pool(), saved()});
    EXPECT_EQ(outcome.exit_status, exit_status) << outcome.out << outcome.err;
    EXPECT_EQ(read_text(pool()), bytes_);
    EXPECT_EQ(remora_command({"pool", "check", saved()}).exit_status, kept);
    EXPECT_FALSE(std::filesystem::exists(saved() + ".part"));
    return outcome.out;
  }
  void serve_saved() {
    std::filesystem::rename(saved(), pool());
    serve();
  }

  std::string saved() const { return folder_.file("saved.pool"); }

  std::string bytes_;
};

TEST_F(DamagedStore, is_told_from_a_sound_one) {
  EXPECT_THAT(check(kept), HasSubstr("every value is what was put"));
  EXPECT_THAT(salvage(kept), HasSubstr("7 keys saved"));
  serve_saved();
  EXPECT_EQ(told({"get", "key-2"}), "newer value of 2");
  expect_refusal(ask({"get", "key-3"}), 1, "there is no key");
}

TEST_F(DamagedStore, loses_the_keys_whose_values_are) {
  damage("newer value of 2");
  EXPECT_THAT(check(broken), HasSubstr("key key-2: the value fails its checksum"));
  const nlohmann::json json = json_of(remora_command({"pool", "check", pool(), "--json"}));
  EXPECT_EQ(json.at("store").at("damaged_keys")[0].at("key"), "key-2");
  EXPECT_EQ(json.at("store").at("keys"), 7);
  const std::string told_of = salvage(broken);
  EXPECT_THAT(told_of, HasSubstr("lost: key key-2"));
  EXPECT_THAT(told_of, HasSubstr("6 keys saved"));
  serve_saved();
  EXPECT_EQ(told({"get", "key-7"}), "value of 7");
  expect_refusal(ask({"get", "key-2"}), 1, "there is no key");
}

TEST_F(DamagedStore, is_read_on_behind_a_header_that_is) {
  damage("key-4", -40);
  EXPECT_THAT(check(broken), HasSubstr("any key may have lost its newest version"));
  EXPECT_THAT(salvage(broken), HasSubstr("6 keys saved"));
  serve_saved();
  EXPECT_EQ(told({"get", "key-7"}), "value of 7");
}

TEST_F(DamagedStore, is_found_by_its_objects_without_a_superblock) {
  damage("REMORAST", 20);
  EXPECT_THAT(check(broken), HasSubstr("superblock"));
  const std::string told_of = salvage(broken);
  EXPECT_THAT(told_of, HasSubstr("keys that were deleted may be back"));
  EXPECT_THAT(told_of, HasSubstr("7 keys saved"));
}

TEST_F(DamagedStore, is_found_in_a_pool_that_is_refused) {
  damage("REMORAPL", 100);
  expect_refusal(remora_command({"pool", "check", pool()}), environment, "header");
  EXPECT_THAT(salvage(broken), HasSubstr("7 keys saved"));
}

TEST_F(DamagedStore, has_its_keys_printed_safely) {
  serve();
  told({"put", "bell\x07\x1b[31m", "a value to be found"});
  told({"stop"});
  EXPECT_EQ(server_->wait(), kept);
  bytes_ = read_text(pool());
  damage("a value to be found");
  const std::string found = check(broken);
  EXPECT_THAT(found, HasSubstr("bell\\x07\\x1b[31m"));
  EXPECT_THAT(found, Not(HasSubstr("\x1b")));
}

TEST_F(DamagedStore, is_never_saved_over_something) {
  write_text(saved(), "something dear to somebody");
  expect_refusal(remora_command({"pool", "salvage", pool(), saved()}), usage, "exists already");
  EXPECT_EQ(read_text(saved()), "something dear to somebody");
}

TEST_F(DamagedStore, is_not_saved_from_a_pool_without_a_store) {
  const std::string empty = folder_.file("empty.pool");
  ASSERT_EQ(remora_command({"pool", "create", empty, "--size", "256K"}).exit_status, kept);
  expect_refusal(remora_command({"pool", "salvage", empty, saved()}), usage, "holds no store");
  EXPECT_FALSE(std::filesystem::exists(saved()));
}

}  // namespace
}  // namespace remora
