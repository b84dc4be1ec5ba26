// Processes that are killed or stopped under load, on every wire between processes.
//
// REMORA_LIVES says how many peers each test outlives (100 that are killed, 25 that are stopped,
// which takes its time), REMORA_LIVES_SEED the seed of the first (1); the next have the seeds after
// it. With real processes a seed gives the same work and the same plan of the blow; which
// instruction it finds is the scheduler's.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "tests/lives/life.h"
#include "tests/support/files.h"

namespace remora::fabric::lives {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* given = std::getenv(name);
  return given == nullptr ? otherwise : std::strtoull(given, nullptr, 10);
}

class Lives : public testing::TestWithParam<WireKind> {
 protected:
  void outlive_all(nic::ring::HostEnd peer_end, int signal) {
    const std::uint64_t lives = from_environment("REMORA_LIVES", signal == SIGKILL ? 100 : 25);
    const std::uint64_t first = from_environment("REMORA_LIVES_SEED", 1);
    ASSERT_GT(lives, 0u) << "REMORA_LIVES must be a number of at least 1";
    std::printf("%s: REMORA_LIVES=%llu REMORA_LIVES_SEED=%llu\n", GetParam().name.c_str(),
                static_cast<unsigned long long>(lives), static_cast<unsigned long long>(first));
    Life life(GetParam(), peer_end, signal, folder_.path());
    for (std::uint64_t seed = first; seed < first + lives && !HasFailure(); ++seed) {
      SCOPED_TRACE("REMORA_LIVES=1 REMORA_LIVES_SEED=" + std::to_string(seed));
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
