// Each single difference between the two eFactories does what the figure of them says of it.
#include "lab/run/ways.h"

#include <gtest/gtest.h>

#include <string>

#include "lab/run/modelled.h"

namespace remora::store_bench {
namespace {

constexpr std::uint32_t large = 4096;

ModelledOptions way_options(std::string_view way, std::string_view workload, std::uint32_t bytes) {
  ModelledOptions options;
  options.way = way;
  options.plan.workload = workload::parse_workload(workload).value();
  options.plan.values = workload::ValueSizes(bytes);
  options.plan.records = 300;
  options.plan.operations = 1200;
  options.plan.clients = 4;
  options.cores.request = 4;
  options.steady.limit = 0;
  options.profile = {.memory = "dram-clflush"};
  return options;
}

ModelledReport run_way(const ModelledOptions& options) {
  Result<ModelledReport> report = run_modelled(options);
  EXPECT_TRUE(report.ok()) << report.status().message();
  EXPECT_TRUE(report.ok() && report->first_failure.ok()) << options.way;
  return report.ok() ? std::move(report).value() : ModelledReport();
}

double put_ns(std::string_view way, std::uint32_t bytes) {
  ModelledOptions options = way_options(way, "update-only", bytes);
  options.plan.clients = 1;
  return run_way(options).of(workload::Kind::update).mean_ns;
}

std::uint64_t counter(const ModelledReport& report, std::string_view name) {
  for (const auto& [known, value] : report.counters) {
    if (known == name) {
      return value;
    }
  }
  ADD_FAILURE() << "no counter " << name;
  return 0;
}

TEST(Ways, all_serve_every_workload) {
  for (const kv::Engine* way : ways()) {
    EXPECT_FALSE(way->about().empty());
    for (const bool cleaning : {false, true}) {
      ModelledOptions options = way_options(way->name(), "ycsb-a", 256);
      options.server.clean_always = cleaning;
      options.plan.records = 100;
      options.plan.operations = 300;
      EXPECT_EQ(run_way(options).all.count, options.plan.operations) << way->name();
    }
  }
  EXPECT_EQ(find_way("no-such").code(), Code::invalid_argument);
}

TEST(Ways, ours_and_the_papers_are_the_engines_of_the_list) {
  for (const auto& [way, engine] :
       {std::pair("ours", "efactory"), std::pair("published", "efactory-published")}) {
    ModelledOptions options = way_options(way, "ycsb-a", large);
    const ModelledReport by_way = run_way(options);
    options.way = "";
    options.engine = engine;
    EXPECT_EQ(by_way.trace_hash, run_way(options).trace_hash) << way;
  }
}

TEST(Ways, a_put_without_its_flush_is_faster) {
  EXPECT_LT(put_ns("no-flush", large), put_ns("ours", large));
}

TEST(Ways, the_hash_entrys_line_is_what_its_flush_costs) {
  EXPECT_LT(put_ns("index-in-dram", 64), put_ns("published", 64));
}

TEST(Ways, a_small_value_in_a_message_saves_a_round_trip) {
  EXPECT_LT(put_ns("in-message", 64), 0.8 * put_ns("ours", 64));
}

TEST(Ways, gets_ask_the_server_only_while_the_log_is_cleaned_by_the_papers_way) {
  const auto asked = [](std::string_view way, bool cleaning) {
    ModelledOptions options = way_options(way, "ycsb-c", large);
    options.server.clean_always = cleaning;
    return counter(run_way(options), "get_requests");
  };
  EXPECT_EQ(asked("gets-ask", false), asked("ours", false));
  EXPECT_GT(asked("gets-ask", true), asked("ours", true) + 100);
}

TEST(Ways, in_order_no_version_is_passed_over) {
  const ModelledReport ours = run_way(way_options("ours", "update-only", large));
  const ModelledReport in_order = run_way(way_options("in-order", "update-only", large));
  EXPECT_GT(counter(ours, "superseded_versions"), 0u);
  EXPECT_EQ(counter(in_order, "superseded_versions"), 0u);
}

}  // namespace
}  // namespace remora::store_bench
