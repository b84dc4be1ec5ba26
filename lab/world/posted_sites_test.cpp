#include "lab/world/posted_sites.h"

#include <gtest/gtest.h>

#include "lab/world/test_rig.h"

namespace remora::lab {
namespace {

using fabric::Opcode;
using fabric::WorkStatus;

constexpr std::uint64_t posted_seeds = 100;
constexpr std::size_t flushed_bytes = 600;

// Writes, flushes, and cuts the server's power: how often bytes were lost.
std::uint64_t losses(SiteTable& sites, const char* platform, MappedHost* host = nullptr) {
  std::uint64_t lost = 0;
  for (std::uint64_t seed = 1; seed <= posted_seeds; ++seed) {
    Rig rig(seed, parse_platform(platform).value(), host, {}, &sites);
    rig.mark(flushed_bytes);
    EXPECT_EQ(rig.finish(rig.to_server(Opcode::write, flushed_bytes)), WorkStatus::success);
    fabric::SendWork flush = rig.flush_of(flushed_bytes);
    flush.compare = fabric::posted_at(Site::current());
    EXPECT_EQ(rig.finish(flush), WorkStatus::success);
    rig.server.cut_power();
    lost += rig.server_has(flushed_bytes) ? 0U : 1U;
  }
  return lost;
}

TEST(PostedSites, count_a_flush_where_it_was_posted) {
  SiteTable sites;
  EXPECT_EQ(losses(sites, "dmp,ddio=on"), 0u);
  const std::vector<SiteEntry> all = sites.list();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].calls, posted_seeds);
  EXPECT_EQ(all[0].key.kind, SiteKind::post);
  EXPECT_NE(all[0].key.file.find("posted_sites_test.cpp"), std::string::npos);
}

TEST(PostedSites, a_muted_flush_completes_and_keeps_nothing) {
  SiteTable sites;
  ASSERT_EQ(losses(sites, "dmp,ddio=on"), 0u);
  sites.mute(sites.list()[0].key);
  EXPECT_GT(losses(sites, "dmp,ddio=on"), 0u);
  sites.unmute_all();
  EXPECT_EQ(losses(sites, "dmp,ddio=on"), 0u);
}

// A mapped actor does the client's requests itself, and is overseen as well.
TEST(PostedSites, a_flush_on_the_short_way_is_muted_too) {
  SiteTable sites;
  MappedHost host;
  EXPECT_EQ(losses(sites, "dmp,ddio=on", &host), 0u);
  ASSERT_EQ(sites.list().size(), 1u);
  sites.mute(sites.list()[0].key);
  EXPECT_GT(losses(sites, "dmp,ddio=on", &host), 0u);
}

TEST(PostedSites, a_muted_atomic_write_completes_and_changes_nothing) {
  SiteTable sites;
  const auto write_word = [&](Rig& rig) {
    const fabric::SendWork work = {.opcode = Opcode::atomic_write,
                                   .remote = rig.target,
                                   .compare = fabric::posted_at(Site::current()),
                                   .operand = 7};
    EXPECT_EQ(rig.finish(work), WorkStatus::success);
    return load<std::uint64_t>(rig.server.memory().visible().data() + 64);
  };
  Rig heard(1, {}, nullptr, {}, &sites);
  EXPECT_EQ(write_word(heard), 7u);
  ASSERT_EQ(sites.list().size(), 1u);
  sites.mute(sites.list()[0].key);
  Rig muted(2, {}, nullptr, {}, &sites);
  EXPECT_EQ(write_word(muted), 0u);
  EXPECT_EQ(sites.list()[0].calls, 2u);
}

TEST(PostedSites, leave_alone_what_does_not_say_where_it_was_posted) {
  SiteTable sites;
  Rig rig(1, {}, nullptr, {}, &sites);
  rig.mark(flushed_bytes);
  EXPECT_EQ(rig.finish(rig.to_server(Opcode::write, flushed_bytes)), WorkStatus::success);
  EXPECT_EQ(rig.finish(rig.flush_of(flushed_bytes)), WorkStatus::success);
  EXPECT_TRUE(sites.list().empty());
  EXPECT_TRUE(rig.server_has(flushed_bytes));
}

TEST(Node, says_what_its_flush_is_worth) {
  using fabric::FlushWorth;
  const auto worth = [](const char* platform, MappedHost* host = nullptr) {
    Rig rig(1, parse_platform(platform).value(), host);
    return rig.server.nic().attributes().flush_worth;
  };
  EXPECT_EQ(worth("dmp,flush=platform"), FlushWorth::persistent);
  EXPECT_EQ(worth("dmp,flush=pcie"), FlushWorth::pushed);
  MappedHost host;
  EXPECT_EQ(worth("dmp,flush=pcie", &host), FlushWorth::persistent);
}

}  // namespace
}  // namespace remora::lab
