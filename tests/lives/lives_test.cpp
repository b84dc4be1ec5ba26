// Processes that are killed or stopped under load, on every wire between processes.
//
// With real processes a seed gives the same work and the same plan of the blow; which instruction
// it finds is the scheduler's. A campaign has `--lives 200`.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdio>
#include <filesystem>

#include "tests/lives/life.h"
#include "tests/support/campaign.h"
#include "tests/support/files.h"

namespace remora::fabric::lives {
namespace {

// Stopped ones are cut off after a time, which has to go by.
constexpr std::uint64_t usually_killed = 40;
constexpr std::uint64_t usually_stopped = 10;

const CampaignNumber number_of_lives("lives", "how many peers each test outlives (40, stopped 10)");
const CampaignNumber first_seed("seed", "of the first life, the next have those after it (1)");

class Lives : public testing::TestWithParam<WireKind> {
 protected:
  void outlive_all(nic::ring::HostEnd peer_end, int signal) {
    const std::uint64_t lives =
        number_of_lives.value_or(signal == SIGKILL ? usually_killed : usually_stopped);
    const std::uint64_t first = first_seed.value_or(1);
    ASSERT_GT(lives, 0u) << "--lives must be at least 1";
    std::printf("%s: --lives %llu --seed %llu\n", GetParam().name.c_str(),
                static_cast<unsigned long long>(lives), static_cast<unsigned long long>(first));
    Life life(GetParam(), peer_end, signal, folder_.path());
    for (std::uint64_t seed = first; seed < first + lives && !HasFailure(); ++seed) {
      SCOPED_TRACE("--lives 1 --seed " + std::to_string(seed));
      life.outlive(seed);
    }
    std::printf("%s: %s\n", GetParam().name.c_str(), life.summary().c_str());
    if (lives >= 20 && !HasFailure()) {  // one may be too short for it
      EXPECT_EQ(life.short_cuts() != 0, GetParam().has_short_cut);
    }
  }

  TestFolder folder_;
};

TEST_P(Lives, a_server_outlives_clients_that_are_killed) {
  outlive_all(nic::ring::HostEnd::connector, SIGKILL);
}

TEST_P(Lives, a_client_outlives_servers_that_are_killed) {
  outlive_all(nic::ring::HostEnd::listener, SIGKILL);
}

TEST_P(Lives, a_server_cuts_off_clients_that_are_stopped) {
  outlive_all(nic::ring::HostEnd::connector, SIGSTOP);
}

TEST_P(Lives, a_client_cuts_off_servers_that_are_stopped) {
  outlive_all(nic::ring::HostEnd::listener, SIGSTOP);
}

// What the tests above would see, were nobody cut off: it wakes before anybody's time is up.
TEST_P(Lives, a_stopped_client_that_is_not_cut_off_goes_on_writing) {
  const std::string path = folder_.file("survivor");
  Random random(1);
  const LoadPlan plan = LoadPlan::draw(random);
  Party party(GetParam());
  party.area(0).reset();
  party.expect({.area = 0, .plan = LoadPlan::draw(random)});
  ASSERT_TRUE(party.listen(path).ok());
  Child child([&](const Teller& teller) {
    victim(teller, {GetParam(), nic::ring::HostEnd::connector, path, plan},
           {.signal = SIGSTOP, .own_requests = 50});
  });
  ASSERT_TRUE(party.run_until([&] { return party.arrived() != nullptr && child.stopped(); }));
  party.run_for(timeout_ns);
  party.area(0).fill(std::byte{0x3c});
  child.send(SIGCONT);
  EXPECT_TRUE(party.run_until([&] { return party.area(0).change_from(std::byte{0x3c}) != ""; }));
}

INSTANTIATE_TEST_SUITE_P(Wires, Lives, testing::ValuesIn(all_wires()),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace remora::fabric::lives
