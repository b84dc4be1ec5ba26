// remora rpc designs, and remora bench rpc: what they print, and what they refuse. No time is
// judged.
#include <set>

#include "tests/cli/cli_testing.h"

namespace remora {
namespace {

using testing::HasSubstr;

TEST(RpcDesigns, are_listed_by_verb_and_transport) {
  const nlohmann::json designs = json_of(remora_command({"rpc", "designs", "--json"}));
  std::set<std::string> rivals;
  for (const nlohmann::json& design : designs) {
    EXPECT_FALSE(design.at("paper").get<std::string>().empty()) << design;
    EXPECT_FALSE(design.at("figure").get<std::string>().empty()) << design;
    EXPECT_FALSE(design.at("transports").empty()) << design;
    if (design.at("rival")) {
      rivals.insert(design.at("name"));
    }
  }
  EXPECT_EQ(rivals, (std::set<std::string>{"darpc", "farm", "herd-rpc", "fasst", "l5", "rfp",
                                           "scalerpc", "octopus-rpc", "lite"}));
  const Outcome table = remora_command({"rpc", "designs"});
  EXPECT_EQ(table.exit_status, kept);
  EXPECT_THAT(table.out, testing::ContainsRegex("\nSEND +darpc.* +fasst"));
  EXPECT_THAT(table.out, testing::ContainsRegex("\nWRITE +farm, l5, rfp.* +herd-rpc.* +scalerpc"));
  EXPECT_THAT(table.out, testing::ContainsRegex("\nWRITE with IMM +octopus-rpc, lite"));
}

TEST(RpcDesigns, are_among_the_systems) {
  const nlohmann::json systems =
      json_of(remora_command({"systems", "--kind", "rpc-design", "--json"}));
  const nlohmann::json designs = json_of(remora_command({"rpc", "designs", "--json"}));
  ASSERT_EQ(systems.size(), designs.size());
  for (std::size_t i = 0; i < systems.size(); ++i) {
    EXPECT_EQ(systems[i].at("name"), designs[i].at("name"));
    EXPECT_EQ(systems[i].at("kind"), "rpc design");
    EXPECT_FALSE(systems[i].at("promise").get<std::string>().empty());
  }
}

TEST(BenchRpc, says_what_was_run_and_what_kind_of_figure_it_is) {
  for (const std::string fabric : {"sim", "ring", "mapped", "roce"}) {
    SCOPED_TRACE(fabric);
    const Outcome outcome = remora_command({"bench", "rpc", "--design", "darpc,farm", "--fabric",
                                            fabric, "--size", "32,1K", "--records", "50", "--ops",
                                            "200", "--warm-up", "20", "--clients", "2", "--json"});
    ASSERT_EQ(outcome.exit_status, kept) << outcome.err;
    const nlohmann::json runs = json_of(outcome);
    ASSERT_EQ(runs.size(), 4u);
    for (const nlohmann::json& run : runs) {
      EXPECT_EQ(run.at("fabric"), fabric);
      EXPECT_EQ(run.at("kind"), fabric == "sim" ? "modelled" : "measured");
      EXPECT_EQ(run.at("all").at("count"), 200);
      EXPECT_EQ(run.at("all").at("failures"), 0);
      EXPECT_GT(run.at("ops_per_s"), 0);
    }
    EXPECT_EQ(runs[0].at("design"), "darpc");
    EXPECT_EQ(runs[3].at("size_bytes"), 1024);
  }
}

TEST(BenchRpc, leaves_out_of_all_designs_those_that_cannot_carry_the_size) {
  const nlohmann::json runs =
      json_of(remora_command({"bench", "rpc", "--fabric", "sim", "--size", "64K", "--records", "20",
                              "--ops", "50", "--warm-up", "10", "--work", "wait:20us", "--json"}));
  std::set<std::string> names;
  for (const nlohmann::json& run : runs) {
    names.insert(run.at("design"));
    EXPECT_EQ(run.at("work"), "wait:20us");
    EXPECT_GE(run.at("kinds").at("read").at("min_ns"), 20'000);
  }
  EXPECT_TRUE(names.contains("farm"));
  EXPECT_FALSE(names.contains("fasst"));
  EXPECT_FALSE(names.contains("herd-rpc"));
}

TEST(BenchRpc, refuses_what_makes_no_sense) {
  expect_refusal(remora_command({"bench", "rpc", "--design", "barn"}), usage,
                 "unknown RPC design 'barn'; choose darpc, farm");
  expect_refusal(remora_command({"bench", "rpc", "--work", "rest:1us"}), usage,
                 "is no work of a call; write none, wait:100us or spin:100us");
  expect_refusal(remora_command({"bench", "rpc", "--fabric", "string", "--design", "farm"}), usage,
                 "unknown fabric 'string'; choose sim, ring, mapped or roce");
  expect_refusal(remora_command({"bench", "rpc", "--size", "2M"}), usage,
                 "is no size of an object");
  expect_refusal(remora_command({"bench", "rpc", "--design", "fasst", "--size", "4K"}), usage,
                 "bytes at most on this device");
  EXPECT_EQ(remora_command({"bench", "rpc", "--window", "17"}).exit_status, usage);
}

}  // namespace
}  // namespace remora
