// remora pool grow: a store that is full has room again, and keeps all that it had.
#include <filesystem>

#include "pmem/pool_file.h"
#include "tests/cli/served_store.h"

namespace remora {
namespace {

using testing::HasSubstr;

class GrownStore : public ServedStore {
 protected:
  static Outcome grow(const std::string& path, const std::string& size) {
    return remora_command({"pool", "grow", path, "--size", size});
  }
  void stop() {
    told({"stop"});
    EXPECT_EQ(server_->wait(), kept);
  }
  // As many keys as there is room for, each with a value of its own.
  int fill_up() {
    const int before = keys_;
    write_text(folder_.file("value"), std::string(100'000, 'v') + "\n");
    for (;; ++keys_) {
      const Outcome put = ask(
          {"put", "key-" + std::to_string(keys_), "--file", folder_.file("value"), "--persistent"});
      if (put.exit_status != kept) {
        EXPECT_EQ(put.exit_status, environment) << put.err;
        return keys_ - before;
      }
    }
  }
  void expect_all() {
    const std::string value = std::string(100'000, 'v') + "\n";
    for (int i = 0; i < keys_; ++i) {
      const std::string key = "key-" + std::to_string(i);
      EXPECT_TRUE(told({"get", key}).starts_with(value.substr(0, 99'000))) << key;
    }
  }
  std::string check() {
    const Outcome outcome = remora_command({"pool", "check", pool()});
    EXPECT_EQ(outcome.exit_status, kept) << outcome.out << outcome.err;
    return outcome.out;
  }

  int keys_ = 0;
};

TEST_F(GrownStore, has_room_again_and_keeps_every_key) {
  serve();
  const int before = fill_up();
  EXPECT_GT(before, 10);
  stop();
  const Outcome grown = grow(pool(), "16M");
  ASSERT_EQ(grown.exit_status, kept) << grown.err;
  EXPECT_EQ(grown.err, "");
  EXPECT_THAT(grown.out, HasSubstr("size         16 MiB, grown once from 4 MiB"));
  EXPECT_THAT(grown.out, HasSubstr("format       version 3"));
  EXPECT_THAT(check(), HasSubstr("every value is what was put"));
  serve();
  EXPECT_THAT(told({"stat", "pool_bytes"}), HasSubstr(std::to_string(16 << 20)));
  expect_all();
  EXPECT_GT(fill_up(), 2 * before);
  expect_all();
  kill_server();
  EXPECT_THAT(check(), HasSubstr("every value is what was put"));
  ASSERT_EQ(grow(pool(), "20M").exit_status, kept);
  serve();
  expect_all();
  EXPECT_GT(fill_up(), 0);
  told({"backup", folder_.file("copy.pool")});
  stop();
  EXPECT_THAT(check(), HasSubstr("every value is what was put"));
  const Outcome copy = remora_command({"pool", "check", folder_.file("copy.pool")});
  EXPECT_EQ(copy.exit_status, kept) << copy.out << copy.err;
  const Outcome saved = remora_command({"pool", "salvage", pool(), folder_.file("saved.pool")});
  EXPECT_EQ(saved.exit_status, kept) << saved.out << saved.err;
}

TEST_F(GrownStore, a_pool_grows_while_it_is_served) {
  serve();
  const int before = fill_up();
  const Outcome grown = grow(pool(), "16M");
  ASSERT_EQ(grown.exit_status, kept) << grown.err;
  EXPECT_EQ(grown.err, "");
  EXPECT_THAT(grown.out, HasSubstr("size         16 MiB; its server went on"));
  EXPECT_THAT(told({"stat", "pool_bytes"}), HasSubstr(std::to_string(16 << 20)));
  EXPECT_GT(fill_up(), 2 * before);
  expect_all();
  kill_server();
  EXPECT_THAT(check(), HasSubstr("every value is what was put"));
  serve();
  const nlohmann::json json =
      json_of(remora_command({"pool", "grow", pool(), "--size", "24M", "--json"}));
  EXPECT_EQ(json.at("size_bytes"), 24 << 20);
  EXPECT_EQ(json.at("served"), true);
  expect_all();
  EXPECT_GT(fill_up(), 0);
  told({"backup", folder_.file("copy.pool")});
  stop();
  EXPECT_THAT(check(), HasSubstr("every value is what was put"));
  EXPECT_EQ(remora_command({"pool", "check", folder_.file("copy.pool")}).exit_status, kept);
}

TEST_F(GrownStore, a_served_pool_refuses_what_cannot_be) {
  serve();
  expect_refusal(grow(pool(), "4M"), usage, "4 MiB already");
  expect_refusal(grow(pool(), "1M"), usage, "cannot become smaller");
  expect_refusal(grow(pool(), "4100K"), usage, "32 KiB or more");
  expect_refusal(grow(pool(), "65T"), usage, "at most 64 TiB");
  if (!may_have_room(folder_.path(), std::uint64_t{60} << 40)) {
    expect_refusal(grow(pool(), "60T"), environment, "the disk has no room");
  }
  std::filesystem::copy_file(pool(), folder_.file("other.pool"));
  const Result<PoolFile> other = PoolFile::open(folder_.file("other.pool"), Media::automatic);
  ASSERT_TRUE(other.ok());
  expect_refusal(grow(folder_.file("other.pool"), "8M"), environment, "does not answer at");
  expect_refusal(remora_command({"pool", "grow", folder_.file("other.pool"), "--size", "8M",
                                 "--socket", socket()}),
                 usage, "serves another pool");
  EXPECT_EQ(std::filesystem::file_size(pool()), 4u << 20);
  told({"put", "it", "goes on"});
}

// As after a growth that was cut: the file was extended first, and the pool is as it was.
TEST_F(GrownStore, a_file_that_is_longer_than_its_pool_is_not_called_the_pool) {
  serve();
  stop();
  std::filesystem::resize_file(pool(), 16 << 20);
  serve();
  EXPECT_THAT(told({"stat", "pool_bytes"}), HasSubstr(std::to_string(4 << 20)));
  stop();
  ASSERT_EQ(grow(pool(), "8M").exit_status, kept);
  serve();
  EXPECT_THAT(told({"stat", "pool_bytes"}), HasSubstr(std::to_string(8 << 20)));
}

// What its objects say is saved from the part that is there.
TEST_F(GrownStore, what_is_left_of_a_file_that_was_cut_short_is_saved) {
  serve();
  told({"put", "early", "in the first piece"});
  stop();
  ASSERT_EQ(grow(pool(), "8M").exit_status, kept);
  serve();
  told({"put", "late", "in a grown pool"});
  stop();
  std::filesystem::resize_file(pool(), 6 << 20);
  expect_refusal(remora_command({"pool", "check", pool()}), environment, "is truncated");
  const Outcome saved = remora_command({"pool", "salvage", pool(), folder_.file("saved.pool")});
  EXPECT_EQ(saved.exit_status, broken) << saved.err;
  EXPECT_THAT(saved.out, HasSubstr("is truncated"));
  EXPECT_THAT(saved.out, HasSubstr("keys saved"));
  std::filesystem::rename(folder_.file("saved.pool"), pool());
  serve();
  EXPECT_EQ(told({"get", "early"}), "in the first piece");
}

TEST_F(GrownStore, grow_says_what_it_did_in_json) {
  const std::string path = folder_.file("one.pool");
  ASSERT_EQ(remora_command({"pool", "create", path, "--size", "256K"}).exit_status, kept);
  const nlohmann::json json =
      json_of(remora_command({"pool", "grow", path, "--size", "1M", "--json"}));
  EXPECT_EQ(json.at("size_bytes"), 1 << 20);
  EXPECT_EQ(json.at("created_bytes"), 256 << 10);
  EXPECT_EQ(json.at("format_version"), 3);
  EXPECT_EQ(json.at("granularity"), "page");
  EXPECT_EQ(json_of(remora_command({"pool", "check", path, "--json"})).at("sound"), true);
}

TEST_F(GrownStore, grow_refuses_what_cannot_be) {
  const std::string path = folder_.file("one.pool");
  ASSERT_EQ(remora_command({"pool", "create", path, "--size", "256K"}).exit_status, kept);
  expect_refusal(grow(path, "256K"), usage, "256 KiB already");
  expect_refusal(grow(path, "128K"), usage, "cannot become smaller");
  expect_refusal(grow(path, "260K"), usage, "32 KiB or more");
  expect_refusal(grow(path, "65T"), usage, "at most 64 TiB");
  expect_refusal(grow(path, "much"), usage, "much");
  if (!may_have_room(folder_.path(), std::uint64_t{60} << 40)) {
    expect_refusal(grow(path, "60T"), environment, "the disk has no room");
  }
  expect_refusal(run_process({"/bin/bash", "-c",
                              "ulimit -f 512; exec " + std::string(REMORA_COMMAND) + " pool grow " +
                                  path + " --size 1M"}),
                 environment, "the disk has no room");
  expect_refusal(grow(folder_.file("none"), "1M"), usage, "none");
  expect_refusal(remora_command({"pool", "grow", path}), usage, "--size is required");
  EXPECT_EQ(std::filesystem::file_size(path), 256u << 10);
  write_text(folder_.file("text"), std::string(300'000, 'x'));
  expect_refusal(grow(folder_.file("text"), "1M"), usage, "not a Remora pool");
  std::string bytes = read_text(path);
  bytes[100] = 'x';
  write_text(path, bytes);
  expect_refusal(grow(path, "1M"), environment, "damaged header");
  EXPECT_TRUE(read_text(path) == bytes);
}

}  // namespace
}  // namespace remora
