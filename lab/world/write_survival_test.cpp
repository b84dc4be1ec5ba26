// What a remote WRITE is worth at a power cut, by platform and by what came after it. Each claim is
// held over many seeds; a claim that bytes may be lost must find a seed that loses them.
#include <gtest/gtest.h>

#include "lab/world/test_rig.h"

namespace remora::lab {
namespace {

using fabric::Opcode;
using fabric::WorkStatus;

constexpr std::uint64_t seeds = 300;
constexpr std::size_t size = 600;

struct Tally {
  std::uint64_t kept = 0;
  std::uint64_t lost = 0;
};

// Writes, lets `after` happen, cuts the server's power, and looks.
template <typename After>
Tally tally(const Platform& platform, After after) {
  Tally count;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Rig rig(seed, platform);
    rig.mark(size);
    EXPECT_EQ(rig.finish(rig.to_server(Opcode::write, size)), WorkStatus::success);
    after(rig);
    rig.server.cut_power();
    ++(rig.server_has(size) ? count.kept : count.lost);
  }
  return count;
}

void nothing(Rig&) {}

void flush(Rig& rig) {
  EXPECT_EQ(rig.finish(rig.flush_of(size)), WorkStatus::success);
}

void read_back(Rig& rig) {
  EXPECT_EQ(rig.finish(rig.to_server(Opcode::read, size)), WorkStatus::success);
}

Platform platform_of(const char* text) {
  return parse_platform(text).value();
}

TEST(WriteSurvival, acknowledged_and_not_flushed_may_be_lost) {
  for (const char* text : {"dmp,ddio=on", "dmp,ddio=off", "mhp,ddio=on", "mhp,ddio=off"}) {
    const Tally count = tally(platform_of(text), nothing);
    EXPECT_GT(count.lost, 0u) << text;
    EXPECT_GT(count.kept, 0u) << text;
  }
}

TEST(WriteSurvival, a_flush_of_the_platform_keeps_it_always) {
  for (const char* text : {"dmp,ddio=on", "dmp,ddio=off", "mhp,ddio=on", "wsp,ddio=on"}) {
    EXPECT_EQ(tally(platform_of(text), flush).lost, 0u) << text;
  }
}

TEST(WriteSurvival, a_flush_over_pcie_keeps_it_only_without_ddio) {
  EXPECT_GT(tally(platform_of("dmp,ddio=on,flush=pcie"), flush).lost, 0u);
  EXPECT_EQ(tally(platform_of("dmp,ddio=off,flush=pcie"), flush).lost, 0u);
  EXPECT_EQ(tally(platform_of("mhp,ddio=on,flush=pcie"), flush).lost, 0u);
}

TEST(WriteSurvival, a_read_after_write_is_worth_what_the_papers_flush_is) {
  EXPECT_GT(tally(platform_of("dmp,ddio=on"), read_back).lost, 0u);
  EXPECT_EQ(tally(platform_of("dmp,ddio=off"), read_back).lost, 0u);
}

TEST(WriteSurvival, the_whole_system_keeps_what_was_acknowledged) {
  EXPECT_EQ(tally(platform_of("wsp,ddio=on"), nothing).lost, 0u);
  EXPECT_EQ(tally(platform_of("wsp,ddio=off"), nothing).lost, 0u);
}

TEST(WriteSurvival, on_page_media_a_flush_takes_a_commit) {
  EXPECT_GT(tally(platform_of("wsp,media=page"), nothing).lost, 0u);
  EXPECT_EQ(tally(platform_of("dmp,media=page"), flush).lost, 0u);
}

TEST(WriteVisibility, an_acknowledgement_alone_does_not_give_it) {
  std::uint64_t unseen = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Rig rig(seed);
    rig.mark(size);
    EXPECT_EQ(rig.finish(rig.to_server(Opcode::write, size)), WorkStatus::success);
    unseen += rig.server_has(size) ? 0u : 1u;
  }
  EXPECT_GT(unseen, 0u);
}

TEST(WriteVisibility, a_polled_receive_gives_it) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Rig rig(seed);
    rig.mark(size);
    const fabric::Sge buffer = rig.far->buffers().piece(0, 4096);
    const fabric::ReceiveWork receive{.pieces = std::span(&buffer, 1)};
    EXPECT_TRUE(rig.far->qp().post_receive(std::span(&receive, 1)).ok());
    fabric::SendWork works[] = {rig.to_server(Opcode::write, size), rig.to_server(Opcode::send, 8)};
    const fabric::Sge short_piece = rig.near->memory().piece(0, 8);
    const fabric::Sge long_piece = rig.near->memory().piece(0, size);
    works[0].pieces = std::span(&long_piece, 1);
    works[1].pieces = std::span(&short_piece, 1);
    EXPECT_TRUE(rig.near->qp().post_send(works).ok());
    EXPECT_EQ(rig.next(rig.far->receives()).status, WorkStatus::success);
    EXPECT_TRUE(rig.server_has(size)) << "seed " << seed;
  }
}

TEST(WriteVisibility, a_read_after_it_gives_it) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Rig rig(seed);
    rig.mark(size);
    EXPECT_EQ(rig.finish(rig.to_server(Opcode::write, size)), WorkStatus::success);
    std::fill_n(rig.client.region().data(), size, std::byte{0});
    read_back(rig);
    EXPECT_TRUE(rig.server_has(size)) << "seed " << seed;
    EXPECT_EQ(*rig.client.region().data(), std::byte{0xab});
  }
}

TEST(WriteVisibility, a_watch_wakes_when_the_last_byte_is_placed) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Rig rig(seed);
    rig.mark(size);
    bool woken = false;
    const auto wait = [](Rig& of, bool& seen) -> Task<void> {
      const ConstBytes last = of.server.memory().visible().subspan(64 + size - 1, 1);
      co_await of.loop.watch(last, [last] { return last[0] == std::byte{0xab}; });
      seen = of.server_has(size);  // bytes appear in ascending order
    };
    rig.server.spawn(wait(rig, woken));
    EXPECT_EQ(rig.finish(rig.to_server(Opcode::write, size)), WorkStatus::success);
    rig.loop.run_for(1'000'000);
    EXPECT_TRUE(woken) << "seed " << seed;
  }
}

}  // namespace
}  // namespace remora::lab
