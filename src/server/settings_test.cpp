#include "server/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "base/folder_testing.h"

namespace remora::server {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string refusal_of(std::string_view text) {
  const Result<Settings> settings = parse_settings(text);
  return settings.ok() ? "fine" : std::string(settings.status().message());
}

TEST(Settings, have_defaults_that_need_no_file) {
  const Settings settings;
  EXPECT_EQ(settings.pool, "data/remora.pool");
  EXPECT_EQ(socket_of(settings), "data/remora.sock");
  EXPECT_EQ(default_socket(), "data/remora.sock");
  EXPECT_FALSE(settings.access.for_others());
}

TEST(Settings, are_read_from_text) {
  const Result<Settings> settings = parse_settings(
      "pool = \"/pm/store\"\nsize = \"2G\"\nmedia = \"dax\"\nengine = \"saw\"\n"
      "metrics = \"127.0.0.1:9464\"\nhttp = \"auto\"\nclients = 7\nresp_clients = 70\n"
      "[access]\nothers = \"read\"\nclients_per_user = 3\n"
      "[access.users]\n1234 = \"write\"\nroot = \"admin\"\n"
      "[access.tokens]\n\"0123456789abcdef\" = \"read\"\n");
  ASSERT_TRUE(settings.ok()) << settings.status().message();
  EXPECT_EQ(settings->pool, "/pm/store");
  EXPECT_EQ(settings->pool_bytes, std::uint64_t{2} << 30);
  EXPECT_EQ(settings->media, Media::dax);
  EXPECT_EQ(settings->engine, "saw");
  EXPECT_EQ(settings->most_clients, 7u);
  EXPECT_EQ(settings->resp_clients, 70u);
  EXPECT_EQ(settings->on_failure, OnFailure::exit);
  EXPECT_EQ(parse_settings("on_failure = \"stay\"")->on_failure, OnFailure::stay);
  EXPECT_FALSE(parse_settings("on_failure = \"wait\"").ok());
  EXPECT_EQ(socket_of(*settings), "/pm/store.sock");
  EXPECT_EQ(settings->access.others, link::Role::read);
  EXPECT_EQ(settings->access.clients_per_user, 3u);
  ASSERT_EQ(settings->access.users.size(), 2u);
  EXPECT_EQ(settings->access.users[0].uid, 1234u);
  EXPECT_EQ(settings->access.users[1].uid, 0u);
  EXPECT_EQ(settings->access.tokens[0].role, link::Role::read);
}

TEST(Settings, refuse_with_line_and_key) {
  EXPECT_THAT(refusal_of("\nsize = \"64MB\""), HasSubstr("line 2: size: "));
  EXPECT_THAT(refusal_of("colour = 1"), HasSubstr("line 1: colour: unknown; there are pool"));
  EXPECT_THAT(refusal_of("clients = 0"), HasSubstr("line 1: clients: '0' is not valid"));
  EXPECT_THAT(refusal_of("clients = 100000"), HasSubstr("from 1 to"));
  EXPECT_THAT(refusal_of("resp_clients = 0"), HasSubstr("line 1: resp_clients: '0' is not valid"));
  EXPECT_THAT(refusal_of("media = \"tape\""), HasSubstr("line 1: media: "));
  EXPECT_THAT(refusal_of("engine = \"steam\""), HasSubstr("line 1: engine: "));
  EXPECT_THAT(refusal_of("metrics = \"here\""), HasSubstr("not an address to listen at"));
  EXPECT_THAT(refusal_of("http = \"here\""), HasSubstr("not an address to listen at"));
  EXPECT_THAT(refusal_of("[access]\nothers = \"king\""), HasSubstr("choose read, write or admin"));
  EXPECT_THAT(refusal_of("[access.users]\nno_such_user_here = \"read\""),
              HasSubstr("no such user"));
  EXPECT_THAT(refusal_of("[access.tokens]\n\"short\" = \"read\""), HasSubstr("16 to 108"));
  EXPECT_THAT(refusal_of("client_operations = 0"), HasSubstr("from 1 to 1000000"));
  EXPECT_THAT(refusal_of("client_bytes = \"1K\""), HasSubstr("client_bytes: choose at least 64"));
  EXPECT_THAT(refusal_of("client_bytes = \"much\""), testing::Not(HasSubstr("choose at least")));
  EXPECT_THAT(refusal_of("threads = 3"), HasSubstr("from 1 to 2"));
  EXPECT_THAT(refusal_of("fabric = \"copper\""), HasSubstr("choose auto, roce, verbs"));
  EXPECT_THAT(refusal_of("[acces]\na = 1"), HasSubstr("line 2: [acces]: no such section"));
}

TEST(Settings, take_names_of_hosts_and_look_none_up) {
  const Result<Settings> settings =
      parse_settings("resp = \"localhost:6390\"\nmetrics = \"nobody.invalid:1\"");
  ASSERT_TRUE(settings.ok()) << settings.status().message();
  EXPECT_EQ(settings->resp, "localhost:6390");
  EXPECT_EQ(settings->metrics, "nobody.invalid:1");
}

TEST(Settings, of_tls_are_both_or_none) {
  const Settings one = parse_settings("tls_cert = \"a.pem\"").value();
  EXPECT_THAT(std::string(check_together(one).message()), HasSubstr("tls_key: "));
  const Settings both =
      parse_settings("tls_cert = \"a.pem\"\ntls_key = \"b.pem\"\ninsecure = true").value();
  EXPECT_TRUE(check_together(both).ok());
  EXPECT_EQ(both.tls_cert, "a.pem");
  EXPECT_EQ(both.tls_key, "b.pem");
  EXPECT_TRUE(both.insecure);
  EXPECT_FALSE(parse_settings("insecure = \"perhaps\"").ok());
}

TEST(Settings, by_roce_need_a_place_to_listen) {
  const Settings alone = parse_settings("fabric = \"roce\"").value();
  EXPECT_EQ(check_together(alone).code(), Code::invalid_argument);
  EXPECT_THAT(std::string(check_together(alone).message()), HasSubstr("--listen HOST:PORT"));
  const Settings both = parse_settings("fabric = \"roce\"\nlisten = \"127.0.0.1:0\"").value();
  EXPECT_TRUE(check_together(both).ok());
  EXPECT_TRUE(check_together(Settings()).ok());
}

// But for where files are.
void expect_defaults(const Settings& settings) {
  const Settings plain;
  EXPECT_EQ(settings.pool_bytes, plain.pool_bytes);
  EXPECT_EQ(settings.media, plain.media);
  EXPECT_EQ(settings.engine, plain.engine);
  EXPECT_EQ(settings.resp, plain.resp);
  EXPECT_EQ(settings.resp_durability, plain.resp_durability);
  EXPECT_EQ(settings.resp_clients, plain.resp_clients);
  EXPECT_EQ(settings.metrics, plain.metrics);
  EXPECT_EQ(settings.http, plain.http);
  EXPECT_EQ(settings.listen, plain.listen);
  EXPECT_EQ(settings.fabric, plain.fabric);
  EXPECT_EQ(settings.most_clients, plain.most_clients);
  EXPECT_EQ(settings.client_operations, plain.client_operations);
  EXPECT_EQ(settings.client_bytes, plain.client_bytes);
  EXPECT_EQ(settings.threads, plain.threads);
  EXPECT_EQ(settings.access.clients_per_user, plain.access.clients_per_user);
}

// The sample, with the # taken away from every line of it that is a setting.
std::string sample_with_all() {
  std::ifstream file(REMORA_SAMPLE_SETTINGS);
  std::string text;
  for (std::string line; std::getline(file, line);) {
    const bool is_setting = line.starts_with("#") && !line.starts_with("# ") && line != "#";
    text += (is_setting ? line.substr(1) : line) + "\n";
  }
  return text;
}

// What packages install is what it says: the defaults, but for where files are.
TEST(Settings, of_the_sample_are_those_without_a_file) {
  const Result<Settings> sample = read_settings(REMORA_SAMPLE_SETTINGS);
  ASSERT_TRUE(sample.ok()) << sample.status().message();
  EXPECT_EQ(sample->pool, "/var/lib/remora/remora.pool");
  EXPECT_EQ(socket_of(*sample), "/run/remora/remora.sock");
  EXPECT_FALSE(sample->access.for_others());
  expect_defaults(*sample);
}

TEST(Settings, of_the_sample_that_are_commented_out_are_the_defaults_too) {
  const std::string text = sample_with_all();
  const Result<Settings> settings = parse_settings(text);
  ASSERT_TRUE(settings.ok()) << settings.status().message() << "\n" << text;
  EXPECT_EQ(settings->access.users.size(), 1u);
  expect_defaults(*settings);
}

TEST(Settings, are_all_in_the_sample) {
  const std::string text = sample_with_all();
  const std::vector<TomlEntry> entries = parse_toml(text).value();
  std::set<std::string> there;
  for (const TomlEntry& entry : entries) {
    there.insert(entry.section + "/" + entry.key);
  }
  for (const std::string_view key : setting_keys) {
    EXPECT_TRUE(there.contains("/" + std::string(key))) << key << " is not in the sample";
  }
  for (const std::string_view key : access_keys) {
    EXPECT_TRUE(there.contains("access/" + std::string(key))) << key << " is not in the sample";
  }
  for (const char* section : {"[access]\n", "[access.users]\n", "[access.tokens]\n"}) {
    EXPECT_THAT(text, HasSubstr(section));
  }
}

TEST(Settings, in_a_file_with_tokens_are_for_its_owner) {
  const TestFolder folder;
  const std::string path = folder.file("remora.toml");
  std::ofstream(path) << "[access.tokens]\n\"0123456789abcdef\" = \"read\"\n";
  ::chmod(path.c_str(), 0644);
  EXPECT_EQ(read_settings(path).code(), Code::permission_denied);
  EXPECT_THAT(std::string(read_settings(path).status().message()), HasSubstr("; chmod o= " + path));
  // As of a server under another user than the file's owner, who could not read it any more.
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(path.c_str(), 65534, 65534), 0);
    EXPECT_THAT(std::string(read_settings(path).status().message()),
                AllOf(HasSubstr("; chgrp root " + path), HasSubstr("; chmod 640 " + path)));
  }
  ::chmod(path.c_str(), 0600);
  EXPECT_TRUE(read_settings(path).ok());
  std::ofstream(path) << "clients = no";
  EXPECT_THAT(std::string(read_settings(path).status().message()), HasSubstr(path + ": line 1: "));
  EXPECT_EQ(read_settings(folder.file("none")).code(), Code::not_found);
  EXPECT_EQ(read_settings(folder.path()).code(), Code::invalid_argument);
}

}  // namespace
}  // namespace remora::server
