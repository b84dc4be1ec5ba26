#include "lab/run/remote_write.h"

#include <gtest/gtest.h>

namespace remora::store_bench {
namespace {

ModelledReport write_with(const std::string& method, std::uint32_t size_bytes) {
  const Result<ModelledReport> report =
      run_remote_writes({.method = method, .size_bytes = size_bytes, .operations = 50});
  EXPECT_TRUE(report.ok()) << report.status().message();
  return report.ok() ? *report : ModelledReport();
}

TEST(RemoteWrite, every_way_performs_what_it_was_asked_for) {
  for (const char* method : {"rpc", "ca", "saw", "imm"}) {
    const ModelledReport report = write_with(method, 1024);
    EXPECT_EQ(report.all.count, 50U) << method;
    EXPECT_GT(report.all.min_ns, 0U) << method;
  }
}

TEST(RemoteWrite, persistence_costs_the_server_but_for_those_who_do_without) {
  EXPECT_EQ(write_with("ca", 1024).server_cpu.persist_ns, 0U);
  EXPECT_EQ(write_with("ca", 1024).server_cpu.other_ns, 0U);
  for (const char* method : {"rpc", "saw", "imm"}) {
    EXPECT_GT(write_with(method, 1024).server_cpu.persist_ns, 0U) << method;
  }
}

TEST(RemoteWrite, a_second_round_trip_takes_longer_than_one) {
  EXPECT_GT(write_with("saw", 64).all.p50_ns, write_with("imm", 64).all.p50_ns);
  EXPECT_GT(write_with("imm", 64).all.p50_ns, write_with("ca", 64).all.p50_ns);
}

TEST(RemoteWrite, the_same_seed_gives_the_same_run) {
  EXPECT_EQ(write_with("saw", 256).trace_hash, write_with("saw", 256).trace_hash);
}

TEST(RemoteWrite, refuses_what_makes_no_sense) {
  EXPECT_EQ(run_remote_writes({.method = "smoke"}).code(), Code::invalid_argument);
  EXPECT_EQ(run_remote_writes({.size_bytes = 0}).code(), Code::invalid_argument);
}

}  // namespace
}  // namespace remora::store_bench
