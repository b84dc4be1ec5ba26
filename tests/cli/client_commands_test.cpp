// remora put, get, del, scan, backup, stat, shell, top and explain, on a store that is served.
#include <filesystem>
#include <fstream>
#include <regex>

#include "tests/cli/served_store.h"

namespace remora {
namespace {

using testing::HasSubstr;
using testing::Not;

class Client : public ServedStore {
 protected:
  void SetUp() override { serve(); }
};

// Lines that stand under each other as one.
std::string unwrapped(const std::string& text) {
  return std::regex_replace(text, std::regex("\n {20}"), " ");
}

TEST_F(Client, puts_and_gets) {
  EXPECT_EQ(told({"put", "key", "a value"}), "visible\n");
  EXPECT_EQ(told({"get", "key"}), "a value") << "the bytes and nothing else: this is no terminal";
  EXPECT_EQ(told({"get", "--raw", "key"}), "a value");
  EXPECT_EQ(told({"put", "--persistent", "key", ""}), "persistent\n");
  EXPECT_EQ(told({"get", "key"}), "");
  EXPECT_EQ(told({"put", "other", "value"}), "visible\n");
  EXPECT_EQ(told({"del", "key", "other"}), "");
  EXPECT_EQ(told({"scan", "--count"}), "0\n");
  expect_refusal(ask({"get", "key"}), 1, "there is no key key");
  EXPECT_EQ(told({"del", "key"}), "");
}

TEST_F(Client, takes_values_from_standard_input_and_files) {
  const std::string bytes("any\0\xff bytes\n", 12);
  EXPECT_EQ(pipe(bytes, "put a").exit_status, kept);
  EXPECT_EQ(told({"get", "--raw", "a"}), bytes);
  EXPECT_EQ(pipe(bytes, "put b -").exit_status, kept);
  EXPECT_EQ(told({"get", "--raw", "b"}), bytes);
  EXPECT_EQ(told({"put", "c", "--file", folder_.file("input")}), "visible\n");
  EXPECT_EQ(told({"get", "--raw", "c"}), bytes);
  expect_refusal(ask({"put", "d", "--file", folder_.file("none")}), usage, "none");
}

TEST_F(Client, takes_large_values_and_says_what_is_too_large) {
  const std::string large(900'000, 'x');
  EXPECT_EQ(pipe(large, "put large").out, "visible\n");
  EXPECT_TRUE(told({"get", "--raw", "large"}) == large);
  const Outcome too_large = pipe(std::string((16 << 20) + 1, 'x'), "put larger");
  expect_refusal(too_large, usage, "16 MB");
  expect_refusal(pipe(std::string(6 << 20, 'x'), "put full"), environment, "full");
  expect_refusal(ask({"put", "", "value"}), usage, "1 byte to 1 KB");
}

TEST_F(Client, scans) {
  for (const char* key : {"a/1", "a/2", "b/1", "odd\nkey"}) {
    told({"put", key, "v"});
  }
  EXPECT_EQ(told({"scan", "--count"}), "4\n");
  EXPECT_EQ(told({"scan", "--prefix", "b"}), "b/1\n");
  EXPECT_EQ(told({"scan", "--prefix", "odd"}), "\"odd\\nkey\"\n");
  EXPECT_EQ(told({"scan", "--prefix", "a/", "--count", "--limit", "1"}), "1\n");
}

// While another client goes on putting pairs of keys, which the copy has both of, or the first
// alone.
TEST_F(Client, backs_a_store_up_while_it_serves) {
  told({"put", "kept", "value"});
  told({"put", "gone", "value"});
  told({"del", "gone"});
  RunningProcess writer(
      {"/bin/bash", "-c",
       "for ((i = 1; i <= 3000; ++i)); do echo \"put first $i\"; echo \"put second $i\"; done | " +
           std::string(REMORA_COMMAND) + " shell --socket " + socket() + " > /dev/null"});
  for (int i = 0; i < 6000 && ask({"get", "second"}).exit_status != kept; ++i) {
    (void)poll(nullptr, 0, 10);
  }
  const std::string copy = folder_.file("copy.pool");
  EXPECT_THAT(told({"backup", copy}), HasSubstr("checked"));
  expect_refusal(ask({"backup", copy}), usage, "exists already");
  const Outcome check = remora_command({"pool", "check", copy});
  EXPECT_EQ(check.exit_status, kept) << check.err;
  EXPECT_EQ(writer.wait(), kept);
  kill_server();
  std::filesystem::remove(pool());
  std::filesystem::rename(copy, pool());
  serve();
  EXPECT_EQ(told({"get", "kept"}), "value");
  expect_refusal(ask({"get", "gone"}), 1, "there is no key gone");
  const int first = std::stoi(told({"get", "first"}));
  const int second = std::stoi(told({"get", "second"}));
  EXPECT_TRUE(first == second || first == second + 1) << first << " and " << second;
}

TEST_F(Client, leaves_nothing_behind_when_a_backup_fails) {
  EXPECT_EQ(pipe(std::string(300'000, 'v'), "put key").exit_status, kept);
  expect_refusal(ask({"backup", folder_.file("copy.pool"), "--size", "256K"}), environment,
                 "choose a larger --size");
  EXPECT_FALSE(std::filesystem::exists(folder_.file("copy.pool")));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("copy.pool.part")));
}

TEST_F(Client, stat_tells_wire_role_and_counters) {
  told({"put", "key", "value"});
  EXPECT_EQ(told({"stat", "wire"}), "mapped\n");
  EXPECT_EQ(told({"stat", "role"}), "admin\n");
  EXPECT_EQ(told({"stat", "keys"}), "1\n");
  EXPECT_EQ(told({"stat", "pid"}), std::to_string(server_->pid()) + "\n");
  expect_refusal(ask({"stat", "colour"}), usage, "colour");
  const nlohmann::json json = json_of(ask({"stat", "--json"}));
  EXPECT_EQ(json["engine"], "efactory");
  EXPECT_EQ(json["survives_power_cut"], true);
  EXPECT_EQ(json["put_requests"], 1);
  EXPECT_EQ(json["clients_mapped"], 1);
}

TEST_F(Client, explain_says_what_an_acknowledged_put_means) {
  const std::string text = told({"explain"});
  for (const char* part :
       {"persistence domain", "granularity", "flush method", "wire", "mapped", "put --persistent",
        "survives kill -9", "without checksum    links between versions"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  kill_server();  // a pool has one owner
  const Outcome of_file = remora_command({"explain", "--pool", pool()});
  EXPECT_EQ(of_file.exit_status, kept) << of_file.err;
  EXPECT_THAT(of_file.out, HasSubstr("persistence domain"));
  EXPECT_THAT(of_file.out, HasSubstr(pool() + ", engine efactory\n"));
  EXPECT_THAT(of_file.out, HasSubstr("never after a native client's get"));
}

TEST_F(Client, explain_says_of_each_engine_what_it_holds) {
  struct {
    const char* engine;
    const char* says;
    const char* does_not;
    const char* without_checksum;
  } const cases[] = {
      {"ca", "never makes it persistent by itself", "moment later", "values, which are served"},
      {"erda", "never makes it persistent by itself", "never torn", "the entries of its table"},
      {"saw", "acknowledged: it survives kill -9", "--persistent", "values, which are served"}};
  for (const auto& each : cases) {
    SCOPED_TRACE(each.engine);
    server_->signal(SIGTERM);
    EXPECT_EQ(server_->wait(), kept);
    std::filesystem::remove(pool());
    serve({"--engine", each.engine, "--resp", ""});
    const std::string text = told({"explain"});
    kill_server();
    const Outcome of_file = remora_command({"explain", "--pool", pool()});
    EXPECT_THAT(of_file.out, HasSubstr(std::string("engine ") + each.engine + "\n"));
    for (const std::string& said : {unwrapped(text), unwrapped(of_file.out)}) {
      EXPECT_THAT(said, HasSubstr(each.says));
      EXPECT_THAT(said, Not(HasSubstr(each.does_not)));
      EXPECT_THAT(said, HasSubstr(std::string("without checksum    ") + each.without_checksum));
    }
    serve({"--engine", each.engine, "--resp", ""});
  }
}

TEST(Explain, of_a_pool_without_a_store_names_the_engine_it_speaks_of) {
  const TestFolder folder(REMORA_DISK_FOLDER);
  const std::string path = folder.file("blank.pool");
  EXPECT_EQ(remora_command({"pool", "create", path, "--size", "4M"}).exit_status, kept);
  EXPECT_THAT(remora_command({"explain", "--pool", path}).out,
              HasSubstr("with no store yet; as the engine efactory would serve it"));
}

// Bytes that go bad while the store serves: a value of this size is not verified unless one asks.
TEST_F(Client, get_verifies_what_it_shows_when_told_to) {
  const std::string value(1000, 'v');
  EXPECT_EQ(told({"put", "--persistent", "key", value}), "persistent\n");
  EXPECT_EQ(told({"get", "--verify-reads", "always", "key"}), value);
  const std::string bytes = read_text(pool());
  const std::size_t at = bytes.find(value);
  ASSERT_NE(at, bytes.npos);
  std::fstream file(pool(), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(at)).put('w').flush();
  ASSERT_TRUE(file.good());
  EXPECT_EQ(told({"get", "--verify-reads", "never", "key"}), "w" + value.substr(1));
  expect_refusal(ask({"get", "--verify-reads", "always", "key"}), environment, "damaged");
  expect_refusal(ask({"get", "--verify-reads", "perhaps", "key"}), usage, "auto, always or never");
}

TEST_F(Client, top_looks_again) {
  const std::string text = told({"top", "--times", "2", "--interval", "20"});
  const std::size_t first = text.find("keys and values");
  ASSERT_NE(first, std::string::npos);
  EXPECT_NE(text.find("keys and values", first + 1), std::string::npos);
  EXPECT_THAT(text, HasSubstr("Redis commands"));
  EXPECT_THAT(text, Not(HasSubstr("\033"))) << "this is no terminal";
  EXPECT_THAT(told({"top", "--times", "1", "--color", "always"}), HasSubstr("\033[32mserving"));
  expect_refusal(ask({"top", "--color", "green"}), usage, "auto, always or never");
}

TEST_F(Client, stat_counts_redis_commands_and_shows_rates_of_counters_alone) {
  const nlohmann::json before = json_of(ask({"stat", "--json"}));
  const std::string cli = "redis-cli -p " + std::to_string(redis_port()) + " ";
  EXPECT_EQ(
      run_process({"/bin/bash", "-c", cli + "set k v; " + cli + "get k; " + cli + "get none"}).out,
      "OK\nv\n\n");
  const nlohmann::json json = json_of(ask({"stat", "--json"}));
  EXPECT_GE(json["redis_commands"].get<int>(), before["redis_commands"].get<int>() + 3);
  EXPECT_EQ(json["redis_hits"], 1);
  EXPECT_EQ(json["redis_misses"], 1);
  EXPECT_GT(json["redis_bytes_in"], 60);
  EXPECT_GT(json["redis_bytes_out"], 10);
  const std::string text = told({"stat"});
  EXPECT_TRUE(std::regex_search(text, std::regex("\n  redis_hits +1 +[<0-9]"))) << text;
  EXPECT_TRUE(std::regex_search(text, std::regex("\n  keys +1\n"))) << text;
}

TEST_F(Client, the_shell_obeys_lines) {
  const Outcome outcome = pipe(
      "SET greeting \"hello, world\"\nget greeting\nput p q persistent\nget nothing\n"
      "scan gree\ndel greeting p\nscan\nstat role\n\nquit\nget never\n",
      "shell");
  EXPECT_EQ(outcome.exit_status, kept) << outcome.err;
  EXPECT_EQ(outcome.out,
            "OK, visible\nhello, world\nOK, persistent\n(nil)\n1) greeting\nOK\n(no keys)\n"
            "admin\n");
}

TEST_F(Client, the_shell_takes_the_options_of_the_command_line) {
  write_text(folder_.file("value"), "from a file");
  const Outcome outcome = pipe(
      "put --persistent a/1 one\nput a/2 -5\nput \"--odd\" \"--raw\"\nget -- --odd\n"
      "put b --file " +
          folder_.file("value") +
          "\nget b --verify-reads always\nget --raw a/2\n"
          "scan --count\nscan --prefix a/ --limit 1 --count\nscan a/ 1\n",
      "shell");
  EXPECT_EQ(outcome.exit_status, kept) << outcome.out;
  EXPECT_THAT(outcome.out,
              testing::StartsWith("OK, persistent\nOK, visible\nOK, visible\n--raw\nOK, "
                                  "visible\nfrom a file\n-54\n1\n1) a/"));
  const Outcome others = pipe(
      "explain\nscrub --json\ntop --color never\nbackup " + folder_.file("copy.pool") + "\nstop\n",
      "shell");
  EXPECT_EQ(others.exit_status, kept) << others.out << others.err;
  for (const char* part :
       {"persistence domain", "\"damaged\"", "keys and values", "checked", "stops"}) {
    EXPECT_THAT(others.out, HasSubstr(part));
  }
}

TEST_F(Client, the_shell_says_what_it_does_not_understand) {
  const Outcome outcome =
      pipe("frobnicate\nget\nget \"open\nput k\nput k v never\nscan a b\nget k --rwa\n", "shell");
  EXPECT_EQ(outcome.exit_status, usage);
  EXPECT_THAT(outcome.out, HasSubstr("(error) no such command: 'frobnicate'"));
  EXPECT_THAT(outcome.out, HasSubstr("(error) key is required"));
  EXPECT_THAT(outcome.out, HasSubstr("Usage: get [OPTIONS] key\n")) << "how it is said";
  EXPECT_THAT(outcome.out, HasSubstr("(error) a \" that is not closed"));
  EXPECT_THAT(outcome.out, HasSubstr("(error) value is required: put KEY VALUE"));
  EXPECT_THAT(outcome.out, HasSubstr("comes nothing, or persistent"));
  EXPECT_THAT(outcome.out, HasSubstr("--rwa"));
  const Outcome nothing = pipe("stat nosuch\n", "shell");
  EXPECT_EQ(nothing.exit_status, usage);
  EXPECT_THAT(nothing.out, HasSubstr("(error) the store has no value named 'nosuch'"));
  const Outcome full = pipe("put k " + std::string(5 << 20, 'x') + "\nfrobnicate\n", "shell");
  EXPECT_EQ(full.exit_status, environment) << "the worse of two";
}

TEST_F(Client, the_shell_helps) {
  const Outcome all = pipe("help\n", "shell");
  for (const char* verb : {"put KEY VALUE", "get KEY", "del KEY ...", "scan [PREFIX [LIMIT]]",
                           "stat [NAME]", "explain", "backup FILE", "stop", "quit"}) {
    EXPECT_THAT(all.out, HasSubstr(verb));
  }
  for (const char* line : {"help put\n", "put --help\n", "set --help\n"}) {
    EXPECT_THAT(pipe(line, "shell").out, HasSubstr("--persistent"));
  }
}

TEST_F(Client, every_command_says_so_when_nobody_serves) {
  kill_server();
  for (const std::vector<std::string>& words : {std::vector<std::string>{"put", "k", "v"},
                                                {"get", "k"},
                                                {"del", "k"},
                                                {"scan"},
                                                {"stat"},
                                                {"shell"},
                                                {"top"},
                                                {"explain"},
                                                {"stop"}}) {
    expect_refusal(ask(words), environment, "start one with ./run or `remora serve`");
  }
}

}  // namespace
}  // namespace remora
