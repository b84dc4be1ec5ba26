// The command as a whole: its help, and what it says when it is not used as it can be.
#include "tests/cli/cli_testing.h"

namespace remora {
namespace {

using testing::HasSubstr;

using Words = std::vector<std::string>;

std::string text_of(const Words& words) {
  std::string text = "remora";
  for (const std::string& word : words) {
    text += " " + word;
  }
  return text;
}

struct Help {
  Words command;
  Words mentions;
};

const Help helps[] = {
    {{}, {"--help", "--version", "pool", "crash", "Exit status: 0", "1 ", "2 ", "3 "}},
    {{}, {"serve", "put", "get", "del", "scan", "stat", "shell", "top", "explain", "stop"}},
    {{"serve"},
     {"to this machine's programs, and with --listen to those of others", "roce: with --listen"}},
    {{"get"}, {"roce: by RoCE in software, with --server"}},
    {{"serve"},
     {"--config", "--pool", "--size", "--media", "--engine", "--socket", "--metrics", "--clients"}},
    {{"put"}, {"--socket", "--token", "--file", "--persistent", "standard input"}},
    {{"get"}, {"--socket", "--raw", "exit with 1"}},
    {{"scan"}, {"--prefix", "--limit", "--count"}},
    {{"stat"}, {"--json", "name"}},
    {{"backup"}, {"to", "--size", "as of one moment"}},
    {{"explain"}, {"--pool", "acknowledged put"}},
    {{"pool"}, {"--help", "create", "grow", "info", "check"}},
    {{"pool", "create"},
     {"--help", "path", "--size", "64M", "--media", "auto, dax, file", "dram", "--json"}},
    {{"pool", "grow"},
     {"--help", "path", "--size", "--media", "--json", "--socket", "served or not"}},
    {{"pool", "info"}, {"--help", "path", "--media", "--json", "untouched"}},
    {{"pool", "check"}, {"--help", "path", "--json", "untouched"}},
    {{"crash"},
     {"--help", "--engine", "pool", "--runs", "1000", "--seed", "--domain", "dmp, mhp or wsp",
      "--ddio", "on, off", "--flush", "platform or pcie", "--granularity", "cache-line, page",
      "--plant", "--list-plants", "--mutants", "--threads", "--json"}},
};

TEST(Help, is_complete_and_no_failure) {
  for (const Help& help : helps) {
    Words words = help.command;
    words.emplace_back("--help");
    const Outcome outcome = remora_command(words);
    EXPECT_EQ(outcome.exit_status, kept) << text_of(words);
    EXPECT_EQ(outcome.err, "") << text_of(words);
    for (const std::string& mention : help.mentions) {
      EXPECT_THAT(outcome.out, HasSubstr(mention)) << text_of(words);
    }
  }
}

TEST(Version, is_that_of_the_project) {
  const Outcome outcome = remora_command({"--version"});
  EXPECT_EQ(outcome.exit_status, kept);
  EXPECT_EQ(outcome.out, REMORA_VERSION "\n");
}

TEST(Usage, a_command_is_required) {
  for (const Words& words : {Words{}, Words{"pool"}}) {
    const Outcome outcome = remora_command(words);
    expect_refusal(outcome, usage, "subcommand is required");
    EXPECT_THAT(outcome.err, HasSubstr("--help"));
  }
}

TEST(Usage, unknown_words_are_answered_with_where_to_find_help) {
  const std::vector<Words> wrong = {{"frobnicate"},
                                    {"--frobnicate"},
                                    {"pool", "frobnicate"},
                                    {"pool", "info", "some.pool", "frobnicate"},
                                    {"pool", "check", "some.pool", "--frobnicate"},
                                    {"crash", "frobnicate"},
                                    {"crash", "--frobnicate"}};
  for (const Words& words : wrong) {
    SCOPED_TRACE(text_of(words));
    const Outcome outcome = remora_command(words);
    expect_refusal(outcome, usage, "--help");
    EXPECT_THAT(outcome.err, HasSubstr("frobnicate")) << "the word itself";
  }
  expect_refusal(remora_command({"frobnicate"}), usage,
                 "there is no command 'frobnicate' of remora; `remora --help`");
  expect_refusal(remora_command({"pool", "frobnicate"}), usage,
                 "there is no command 'frobnicate' of remora pool; `remora pool --help`");
  expect_refusal(remora_command({"--frobnicate"}), usage, "there is no option '--frobnicate'");
}

TEST(Usage, a_missing_path_is_named) {
  for (const char* command : {"create", "info", "check"}) {
    expect_refusal(remora_command({"pool", command}), usage, "path is required");
  }
}

struct Refusal {
  Words command;
  std::string message;
};

TEST(Usage, unknown_choices_are_answered_with_the_known_ones) {
  const Refusal refusals[] = {
      {{"crash", "--engine", "steam"}, "unknown engine 'steam'; choose pool"},
      {{"crash", "--domain", "moon"}, "dmp, mhp"},
      {{"crash", "--ddio", "perhaps"}, "on"},
      {{"crash", "--flush", "twice"}, "platform"},
      {{"crash", "--granularity", "fine"}, "choose any, cache-line or page"},
      {{"crash", "--plant", "pool-rose"}, "remora crash --engine pool --list-plants"},
      {{"crash", "--runs", "0"}, "--runs"},
      {{"crash", "--runs", "-1"}, "--runs"},
      {{"crash", "--runs", "many"}, "--runs"},
      {{"crash", "--seed", "lucky"}, "--seed"},
      {{"crash", "--threads", "all"}, "--threads"},
      {{"pool", "create", "x.pool", "--size", "64MB"}, "write MiB, not MB"},
      {{"pool", "create", "x.pool", "--size", "large"}, "such as 4096, 256K, 64M or 2G"},
      {{"pool", "create", "x.pool", "--size", "-1"}, "such as 4096, 256K, 64M or 2G"},
      {{"pool", "create", "x.pool", "--size", ""}, "such as 4096, 256K, 64M or 2G"},
      {{"pool", "create", "x.pool", "--size", "4K"}, "choose a size from 256 KiB to 64 TiB"},
      {{"pool", "create", "x.pool", "--size", "65T"}, "choose a size from 256 KiB to 64 TiB"},
      {{"pool", "create", "x.pool", "--media", "tape"}, "choose auto, dax, file or dram"},
      {{"pool", "info", "x.pool", "--media", "tape"}, "choose auto, dax, file or dram"},
      {{"nic", "pingpong", "--port", "70000"}, "choose a whole number from 1 to 65535"},
      {{"nic", "pingpong", "127.0.0.1", "--port", "0"}, "choose a whole number from 1 to 65535"},
      {{"bench", "nic", "--wire", "sim", "--profile", "./none.toml"},
       "remora: cannot read the profile ./none.toml: No such file"},
  };
  for (const Refusal& refusal : refusals) {
    SCOPED_TRACE(text_of(refusal.command));
    expect_refusal(remora_command(refusal.command), usage, refusal.message);
  }
}

}  // namespace
}  // namespace remora
