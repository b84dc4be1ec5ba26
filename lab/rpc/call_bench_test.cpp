#include "lab/rpc/call_bench.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "rpc/designs/design.h"

namespace remora::lab {
namespace {

CallBench small(const std::string& design) {
  CallBench bench;
  bench.design = design;
  bench.plan.workload = *workload::parse_workload("read:50,update:50");
  bench.plan.values = workload::ValueSizes(256);
  bench.plan.records = 100;
  bench.plan.operations = 500;
  bench.plan.warm_up = 50;
  return bench;
}

TEST(CallWork, is_parsed_and_printed) {
  for (const std::string text : {"none", "wait:100us", "spin:2ms", "wait:1500ns"}) {
    EXPECT_EQ(to_string(*parse_call_work(text)), text);
  }
  EXPECT_EQ(parse_call_work("wait:1000us")->span_ns, 1'000'000u);
  for (const std::string text : {"", "wait", "wait:", "wait:0us", "wait:1", "rest:1us", "none:1us",
                                 "wait:2s", "wait:-1us", "wait:1001ms"}) {
    EXPECT_EQ(parse_call_work(text).status().code(), Code::invalid_argument) << text;
  }
}

class EveryDesign : public testing::TestWithParam<const rpc::Design*> {
 protected:
  std::string name() const { return std::string(GetParam()->descriptor.name); }
};

INSTANTIATE_TEST_SUITE_P(All, EveryDesign, testing::ValuesIn(rpc::designs()),
                         [](const auto& param) {
                           std::string name(param.param->descriptor.name);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST_P(EveryDesign, is_modelled_and_replayed_from_its_seed) {
  const Result<CallReport> one = run_calls(small(name()));
  ASSERT_TRUE(one.ok()) << one.status().message();
  EXPECT_EQ(one->all.count, 500u);
  EXPECT_EQ(one->all.failures, 0u);
  EXPECT_GT(one->of(workload::Kind::read).count, 100u);
  EXPECT_GT(one->of(workload::Kind::update).count, 100u);
  const Result<CallReport> again = run_calls(small(name()));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(one->span_ns, again->span_ns);
  EXPECT_EQ(one->all.p99_ns, again->all.p99_ns);
}

TEST_P(EveryDesign, waits_for_handlers_that_wait) {
  CallBench bench = small(name());
  bench.work = {CallWork::Kind::wait, 100'000};
  bench.plan.operations = 100;
  const Result<CallReport> report = run_calls(bench);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_GE(report->of(workload::Kind::read).min_ns, 100'000u);
  // The wait begins when the argument is persistent: nothing of a call is hidden behind it.
  bench.work = {};
  const Result<CallReport> light = run_calls(bench);
  ASSERT_TRUE(light.ok());
  EXPECT_NEAR(report->all.mean_ns - light->all.mean_ns, 100'000, 5'000);
  if (!GetParam()->is_durable) {
    EXPECT_GE(report->of(workload::Kind::update).min_ns, 100'000u);
  }
}

TEST_P(EveryDesign, runs_between_processes) {
  for (const std::string fabric : {"ring", "mapped", "roce"}) {
    CallBench bench = small(name());
    bench.fabric = fabric;
    bench.window = 2;
    bench.plan.clients = 2;
    const Result<CallReport> report = run_calls(bench);
    ASSERT_TRUE(report.ok()) << fabric << ": " << report.status().message();
    EXPECT_EQ(report->all.count, 500u) << fabric;
    EXPECT_TRUE(report->first_failure.ok()) << report->first_failure.message();
  }
}

TEST(CallBench, refuses_what_makes_no_sense) {
  CallBench bench = small("farm");
  bench.window = 17;
  EXPECT_EQ(run_calls(bench).status().code(), Code::invalid_argument);
  EXPECT_EQ(run_calls(small("barn")).status().code(), Code::invalid_argument);
  bench = small("fasst");
  bench.plan.values = workload::ValueSizes(4096);
  EXPECT_EQ(run_calls(bench).status().code(), Code::invalid_argument) << "below 4 KB";
  bench = small("farm");
  bench.plan.workload = *workload::parse_workload("read:50,delete:50");
  EXPECT_EQ(run_calls(bench).status().code(), Code::invalid_argument);
}

}  // namespace
}  // namespace remora::lab
