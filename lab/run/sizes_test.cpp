#include "lab/run/sizes.h"

#include <gtest/gtest.h>

namespace remora::store_bench {
namespace {

workload::Plan plan_of(const char* workload, std::uint64_t value_bytes) {
  workload::Plan plan;
  plan.workload = workload::parse_workload(workload).value();
  plan.values = workload::ValueSizes(value_bytes);
  plan.records = 1000;
  plan.operations = 100'000;
  return plan;
}

TEST(Sizes, a_pool_holds_all_that_is_written) {
  EXPECT_GE(pool_bytes_for(plan_of("update-only", 4096)), 101'000u * 4096u);
  EXPECT_LT(pool_bytes_for(plan_of("c", 4096)), 101'000u * 4096u);
}

TEST(Sizes, a_pool_has_an_upper_limit) {
  EXPECT_LE(pool_bytes_for(plan_of("update-only", 16 << 20)), std::uint64_t{8} << 30);
}

TEST(Sizes, buffers_hold_every_value_in_flight) {
  for (const std::uint64_t value_bytes : {0u, 1u, 100u, 4096u, 100'000u, 1u << 20}) {
    const kv::ClientOptions options = client_options_for(plan_of("a", value_bytes), 4);
    EXPECT_GE(options.in_flight, 4u);
    EXPECT_GE(options.buffer_bytes, options.in_flight * value_bytes);
  }
}

TEST(Sizes, an_index_is_made_for_the_inserts_too) {
  EXPECT_EQ(server_options_for(plan_of("a", 100), {}).expected_keys, 1000u);
  EXPECT_EQ(server_options_for(plan_of("d", 100), {}).expected_keys, 101'000u);
}

}  // namespace
}  // namespace remora::store_bench
