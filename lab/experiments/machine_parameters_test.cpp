#include "lab/experiments/machine_parameters.h"

#include <gtest/gtest.h>

namespace remora::lab {
namespace {

using store_bench::ModelledOptions;

TEST(MachineParameters, say_how_cores_are_many_wait_and_are_shared) {
  figures::Parameters parameters;
  for (const auto& [name, value] : {std::pair("request_cores", 4), std::pair("background_cores", 2),
                                    std::pair("awaited_versions", 64),
                                    std::pair("client_machines", 3), std::pair("servers", 2)}) {
    parameters.set(name, std::int64_t{value});
  }
  parameters.set("spread", std::string("any"));
  parameters.set("server_sleeps", true);
  parameters.set("client_share", 0.25);
  parameters.set("slice_us", std::int64_t{50});
  ModelledOptions modelled;
  ASSERT_TRUE(read_machines(parameters, {}, modelled).ok());
  EXPECT_EQ(modelled.cores.request, 4u);
  EXPECT_EQ(modelled.cores.background, 2u);
  EXPECT_EQ(modelled.cores.spread, Spread::any);
  EXPECT_EQ(modelled.cores.use, (store_bench::CpuUse{.sleeps = true, .slice_ns = 50'000}));
  EXPECT_EQ(modelled.client_use, (store_bench::CpuUse{.share = 0.25, .slice_ns = 50'000}));
  EXPECT_EQ(modelled.client_machines, 3u);
  EXPECT_EQ(modelled.servers, 2u);
  EXPECT_EQ(modelled.server.awaited_versions, 64u);
  ASSERT_TRUE(read_machines(parameters, {.request_cores = 16}, modelled).ok());
  EXPECT_EQ(modelled.cores.request, 16u);
}

TEST(MachineParameters, that_are_missing_change_nothing) {
  ModelledOptions modelled;
  ASSERT_TRUE(read_machines({}, {}, modelled).ok());
  EXPECT_EQ(modelled.cores.request, 1u);
  EXPECT_EQ(modelled.cores.use, store_bench::CpuUse());
}

TEST(MachineParameters, that_make_no_sense_are_refused) {
  ModelledOptions modelled;
  figures::Parameters slice;
  slice.set("slice_us", std::int64_t{0});
  EXPECT_EQ(read_machines(slice, {}, modelled).code(), Code::invalid_argument);
  figures::Parameters sleeps;
  sleeps.set("server_sleeps", std::string("deeply"));
  EXPECT_EQ(read_machines(sleeps, {}, modelled).code(), Code::invalid_argument);
  figures::Parameters cores;
  cores.set("request_cores", std::int64_t{2});
  EXPECT_FALSE(read_machines(cores, {}, modelled).ok()) << "and what of the others?";
}

}  // namespace
}  // namespace remora::lab
