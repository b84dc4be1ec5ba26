#include "lab/workload/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace remora::workload {
namespace {

using testing::HasSubstr;

Plan valid_plan() {
  Plan plan;
  plan.workload = std::move(parse_workload("a")).value();
  return plan;
}

TEST(Plan, is_valid_with_its_defaults) {
  EXPECT_TRUE(validate(valid_plan()).ok());
}

TEST(Plan, is_refused_with_what_to_change) {
  const std::pair<std::function<void(Plan&)>, std::string> cases[] = {
      {[](Plan& plan) { plan.workload = Workload(); }, "does nothing"},
      {[](Plan& plan) { plan.workload.weights[0] = -1; }, "negative"},
      {[](Plan& plan) { plan.workload.scan_low = 0; }, "at least 1"},
      {[](Plan& plan) { plan.workload.scan_low = 200; }, "smaller number goes first"},
      {[](Plan& plan) { plan.workload.distribution.theta = 1; }, "between 0 and 0.999"},
      {[](Plan& plan) { plan.records = 0; }, "load at least 1"},
      {[](Plan& plan) { plan.clients = 0; }, "1 to 65536"},
      {[](Plan& plan) { plan.clients = clients_max + 1; }, "1 to 65536"},
      {[](Plan& plan) {
         plan.keys = KeyTexts({1, 8});
       },
       "can name 64 records, not 1000"},
  };
  for (const auto& [change, why] : cases) {
    Plan plan = valid_plan();
    change(plan);
    const Status status = validate(plan);
    EXPECT_EQ(status.code(), Code::invalid_argument) << why;
    EXPECT_THAT(std::string(status.message()), HasSubstr(why));
  }
}

TEST(Plan, shares_add_up_and_differ_by_at_most_one) {
  for (const std::uint64_t total : {0u, 1u, 7u, 8u, 1'000u, 1'001u}) {
    for (const std::uint32_t clients : {1u, 2u, 7u, 96u}) {
      std::uint64_t sum = 0;
      for (std::uint32_t client = 0; client < clients; ++client) {
        const std::uint64_t share = share_of(total, client, clients);
        EXPECT_GE(share, total / clients);
        EXPECT_LE(share, total / clients + 1);
        sum += share;
      }
      EXPECT_EQ(sum, total);
    }
  }
}

}  // namespace
}  // namespace remora::workload
