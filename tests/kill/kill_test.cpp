// kill -9 of a real server under a mixed load, again and again: nothing that was acknowledged is
// lost, nothing is torn, and the pool is sound after every kill. REMORA_COMMAND and
// REMORA_DISK_FOLDER come from the build. A campaign has `--kills 200`.
#include <gtest/gtest.h>

#include <iostream>

#include "lab/lives/kill_lives.h"
#include "pmem/pool_file.h"
#include "tests/support/campaign.h"
#include "tests/support/files.h"

namespace remora {
namespace {

const CampaignNumber number_of_kills("kills", "how often the server of each medium is killed (4)");
const CampaignNumber first_seed("seed", "of the load (1)");

void expect_sound(const std::string& pool) {
  Result<PoolFile> file = PoolFile::inspect(pool);
  ASSERT_TRUE(file.ok()) << file.status().message();
  const Status verdict = file->pool().check_in_full();
  EXPECT_TRUE(verdict.ok()) << verdict.message();
}

void live(const char* parent, const std::vector<std::string>& serve, std::uint64_t grow_bytes = 0) {
  const std::uint64_t kills = number_of_kills.value_or(4);
  const std::uint64_t seed = first_seed.value_or(1);
  const TestFolder folder(parent);
  lab::KillLives lives({.program = REMORA_COMMAND,
                        .folder = folder.path(),
                        .seed = seed,
                        .serve = serve,
                        .redis_clients = 6,
                        .grow_bytes = grow_bytes});
  std::uint64_t growths = 0;
  std::uint64_t kills_in_growth = 0;
  std::uint64_t acknowledged = 0;
  std::uint64_t persistent = 0;
  std::uint64_t in_flight = 0;
  for (std::uint64_t life = 1; life <= kills; ++life) {
    SCOPED_TRACE("--seed " + std::to_string(seed) + ", life " + std::to_string(life));
    const Status start = lives.start_and_check();
    ASSERT_TRUE(start.ok()) << start.message();
    const Result<lab::LifeReport> report = lives.live_and_kill();
    ASSERT_TRUE(report.ok()) << report.status().message();
    acknowledged += report->acknowledged;
    persistent += report->acknowledged_persistent;
    in_flight += report->in_flight;
    growths += report->has_grown ? 1u : 0u;
    kills_in_growth += report->was_growing ? 1u : 0u;
    expect_sound(folder.file("kill.pool"));
  }
  const Status last = lives.start_and_check();
  ASSERT_TRUE(last.ok()) << last.message();
  EXPECT_TRUE(lives.stop().ok());
  expect_sound(folder.file("kill.pool"));
  EXPECT_GT(persistent, kills);
  EXPECT_GT(in_flight, 0u);
  std::cout << kills << " kills, " << acknowledged << " operations acknowledged, " << persistent
            << " of them as persistent, " << in_flight << " interrupted, " << lives.keys_checked()
            << " keys checked, " << growths << " growths of the pool, " << kills_in_growth
            << " kills within one\n";
}

TEST(Kill, loses_nothing_that_was_acknowledged) {
  live(REMORA_DISK_FOLDER, {"--size", "16M"});
}

// A log so small that most lives end within a cleaning.
TEST(Kill, loses_nothing_while_the_log_is_cleaned) {
  live(REMORA_DISK_FOLDER, {"--size", "2M"});
}

// The pool grows under the hands of its clients, in every life, and the kill comes soon after.
TEST(Kill, loses_nothing_while_the_pool_grows) {
  live(REMORA_DISK_FOLDER, {"--size", "2M"}, 1 << 20);
}

TEST(Kill, loses_nothing_while_a_pool_in_memory_grows) {
  live("/dev/shm", {"--size", "2M", "--media", "dram"}, 1 << 20);
}

// Memory that survives the process: the quickest lives.
TEST(Kill, loses_nothing_on_cache_line_media) {
  live("/dev/shm", {"--size", "16M", "--media", "dram"});
}

// The account can tell: a pool from before the last life has lost what that one acknowledged.
TEST(Kill, notices_a_store_that_forgot) {
  const TestFolder folder("/dev/shm");
  lab::KillLives lives(
      {.program = REMORA_COMMAND, .folder = folder.path(), .serve = {"--size", "4M"}});
  ASSERT_TRUE(lives.start_and_check().ok());
  ASSERT_TRUE(lives.live_and_kill().ok());
  const std::string before = read_text(folder.file("kill.pool"));
  ASSERT_TRUE(lives.start_and_check().ok());
  ASSERT_TRUE(lives.live_and_kill().ok());
  write_text(folder.file("kill.pool"), before);
  const Status verdict = lives.start_and_check();
  EXPECT_EQ(verdict.code(), Code::damaged);
  EXPECT_NE(verdict.message().find("has lost version"), std::string::npos) << verdict.message();
}

}  // namespace
}  // namespace remora
