#include <gtest/gtest.h>

#include "lab/experiments/experiment.h"

namespace remora::lab {
namespace {

TEST(Experiments, a_figure_that_names_none_of_them_means_a_store) {
  EXPECT_EQ(experiment_of({}).name(), "store");
  figures::Parameters parts;
  parts.set("experiment", std::string("kv-breakdown"));
  EXPECT_EQ(experiment_of(parts).name(), "store");
}

TEST(Experiments, are_found_by_their_names) {
  for (const Experiment* experiment : experiments()) {
    figures::Parameters parameters;
    parameters.set("experiment", std::string(experiment->name()));
    EXPECT_EQ(&experiment_of(parameters), experiment);
  }
}

// Values of two sizes, and what is told of one kind of operation.
TEST(Experiments, take_several_sizes_and_tell_of_each_kind) {
  figures::FigureRun run;
  for (const auto& [name, value] :
       {std::pair("engine", "imm"), std::pair("workload", "ycsb-a"), std::pair("spread", "any"),
        std::pair("value_size_bytes", "64:0.5,4K:0.5")}) {
    run.parameters.set(name, std::string(value));
  }
  run.parameters.set("clients", std::int64_t{2});
  run.parameters.set("key_size_bytes", std::int64_t{32});
  run.slots = {{{"p", "s", "", 1}, "update.latency_mean_us"},
               {{"p", "s", "", 1}, "read.latency_mean_us"},
               {{"p", "s", "", 1}, "throughput_ops_per_s"},
               {{"p", "s", "", 1}, "read.throughput_ops_per_s"}};
  const figures::Profile profile{"connectx-5", "dram", "xeon"};
  const Experiment& store = *experiments().front();
  const FigureRunOptions options{.operations = 200, .records = 50, .warm_up_limit = 0};
  const Result<FigureValues> values = store.model(run, profile, options);
  ASSERT_TRUE(values.ok()) << values.status().message();
  EXPECT_GT(*values->values[0], *values->values[1]) << "a put waits for more than a get";
  EXPECT_NEAR(*values->values[3] / *values->values[2], 0.5, 0.15);
  run.slots[0].metric = "update.happiness";
  EXPECT_EQ(store.model(run, profile, options).code(), Code::invalid_argument);
}

TEST(Experiments, no_clock_tells_the_parts_of_a_latency_apart) {
  figures::FigureRun whole;
  whole.slots.push_back({{"p", "s", "", 64}, "latency_p50_us"});
  figures::FigureRun parts;
  parts.slots.push_back({{"p", "s", "crc", 64}, "latency_p50_us"});
  for (const Experiment* experiment : experiments()) {
    EXPECT_EQ(experiment->why_not_measured(whole), "");
    EXPECT_NE(experiment->why_not_measured(parts), "");
  }
}

}  // namespace
}  // namespace remora::lab
