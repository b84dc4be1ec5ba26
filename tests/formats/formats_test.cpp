// Pools of every version that landed open for ever: each file of tests/formats is copied, brought
// up to date, and served, and every key is asked for. REMORA_COMMAND, REMORA_FORMATS (the folder)
// and REMORA_DISK_FOLDER come from the build.
#include <gtest/gtest.h>
#include <poll.h>
#include <remora/store.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "lab/lives/server_process.h"
#include "pmem/pool_file.h"
#include "tests/support/files.h"

namespace remora {
namespace {

// What must be known of a key.
struct Wanted {
  std::string key;
  std::string state;  // is, may_be, absent
  std::string value;
};

std::string value_of(const std::string& key, const std::string& version, std::size_t size) {
  std::string value;
  while (value.size() < size) {
    value += key + ":" + version + " ";
  }
  value.resize(size);
  return value;
}

std::vector<Wanted> wanted_of(const std::string& name) {
  std::istringstream lines(read_text(REMORA_FORMATS "/" + name + ".keys"));
  std::vector<Wanted> all;
  Wanted wanted;
  while (lines >> wanted.key >> wanted.state) {
    wanted.value.clear();
    if (wanted.state != "absent") {
      std::string version;
      std::size_t size = 0;
      lines >> version >> size;
      wanted.value = value_of(wanted.key, version, size);
    }
    all.push_back(wanted);
  }
  return all;
}

std::vector<std::string> pool_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(REMORA_FORMATS)) {
    if (entry.path().extension() == ".pool") {
      names.push_back(entry.path().stem());
    }
  }
  std::ranges::sort(names);
  return names;
}

class Formats : public testing::TestWithParam<std::string> {
 protected:
  Formats() { write_text(path_, read_text(REMORA_FORMATS "/" + GetParam() + ".pool")); }

  // "version-1-killed"
  static std::uint32_t version() {
    return static_cast<std::uint32_t>(
        std::stoul(GetParam().substr(std::string("version-").size())));
  }
  // A pool that was grown stays of its version.
  static std::uint32_t newest_version() { return std::max(version(), pool_format::version); }
  std::optional<Store> connect(lab::ServerProcess& server) const {
    while (!server.ended()) {
      Expected<Store> store = Store::connect(path_ + ".sock");
      if (store) {
        return std::move(store).value();
      }
      (void)poll(nullptr, 0, 10);  // the server is on its way, or ends
    }
    return {};
  }
  void serve_and_ask() {
    const std::string complaints = path_ + ".log";
    Result<lab::ServerProcess> server = lab::ServerProcess::start(
        REMORA_COMMAND,
        {"--pool", path_, "--media", "file", "--socket", path_ + ".sock", "--resp", ""},
        complaints);
    ASSERT_TRUE(server.ok()) << server.status().message();
    std::optional<Store> store = connect(*server);
    ASSERT_TRUE(store) << read_text(complaints);
    for (const Wanted& wanted : wanted_of(GetParam())) {
      const Expected<std::string> found = store->get(wanted.key);
      const bool missing = found.is(ErrorCode::not_found);
      if (wanted.state == "is" || (wanted.state == "may_be" && !missing)) {
        ASSERT_TRUE(found.ok()) << wanted.key << ": " << found.error().message;
        EXPECT_TRUE(*found == wanted.value) << wanted.key << " has another value";
      } else {
        EXPECT_TRUE(missing) << wanted.key << " should not be there";
      }
    }
    server->ask_to_stop();
    EXPECT_EQ(server->wait(), 0) << read_text(complaints);
  }

  TestFolder folder_{REMORA_DISK_FOLDER};
  const std::string path_ = folder_.file("old.pool");
};

INSTANTIATE_TEST_SUITE_P(pools, Formats, testing::ValuesIn(pool_names()), [](const auto& name) {
  std::string text = name.param;
  std::ranges::replace(text, '-', '_');
  return text;
});

TEST(FormatsFolder, has_a_pool_of_every_kind_of_version_1) {
  for (const char* kind : {"empty", "stopped", "killed", "varied"}) {
    const std::string name = std::string("version-1-") + kind;
    EXPECT_EQ(std::ranges::count(pool_names(), name), 1) << name;
  }
  EXPECT_EQ(wanted_of("version-1-killed").size(), 600u);
}

TEST_P(Formats, looking_at_it_leaves_it_as_it_is) {
  const std::string before = read_text(path_);
  Result<PoolFile> file = PoolFile::inspect(path_);
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->pool().found_version(), version());
  const Status verdict = file->pool().check_in_full();
  EXPECT_TRUE(verdict.ok()) << verdict.message();
  EXPECT_EQ(read_text(path_), before);
}

TEST_P(Formats, opening_it_brings_the_pool_up_to_date) {
  for (const std::uint32_t found_version : {version(), newest_version()}) {
    Result<PoolFile> file = PoolFile::open(path_, Media::file);
    ASSERT_TRUE(file.ok()) << file.status().message();
    EXPECT_EQ(file->pool().found_version(), found_version);
    EXPECT_EQ(file->pool().header().version, newest_version());
    EXPECT_TRUE(file->pool().check_in_full().ok());
    const PoolUsage usage = file->pool().usage();
    const auto store = static_cast<std::size_t>(Account::store);
    EXPECT_EQ(usage.accounts[store].object_count, usage.object_count);
    EXPECT_TRUE(file->pool().close().ok());
  }
}

TEST_P(Formats, every_key_is_served_again_and_again) {
  serve_and_ask();
  serve_and_ask();
  Result<PoolFile> file = PoolFile::inspect(path_);
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->pool().found_version(), newest_version());
}

}  // namespace
}  // namespace remora
