#include "bench/store/cleaning.h"

#include <gtest/gtest.h>

#include "base/folder_testing.h"

namespace remora::bench {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

class Cleaning : public testing::TestWithParam<bool> {};

TEST_P(Cleaning, APoolTakesManyTimesItsSizeAndMemoryStaysFlat) {
  const TestFolder folder;
  CleaningOptions options;
  options.pool_bytes = 8 * mebibyte;
  options.step_bytes = 8 * mebibyte;
  options.value_bytes = 4096;
  options.bytes = 4 * options.step_bytes;
  options.on_disk = GetParam();
  const Result<CleaningReport> report = run_cleaning(options, folder.path());
  ASSERT_TRUE(report.ok()) << report.status().message();
  ASSERT_EQ(report->steps.size(), 4u);
  const CleaningReport::Step& first = report->steps.front();
  const CleaningReport::Step& last = report->steps.back();
  EXPECT_GT(last.cleanings, 0u);
  EXPECT_GT(last.gets_per_s, 0);
  EXPECT_LT(last.server_private_bytes, first.server_private_bytes + 4 * mebibyte);
  EXPECT_LT(last.client_private_bytes, first.client_private_bytes + 4 * mebibyte);
}

INSTANTIATE_TEST_SUITE_P(memory_and_disk, Cleaning, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& on_disk) {
                           return on_disk.param ? "disk" : "memory";
                         });

}  // namespace
}  // namespace remora::bench
