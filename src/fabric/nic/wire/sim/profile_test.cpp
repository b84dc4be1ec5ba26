#include "fabric/nic/wire/sim/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

namespace remora::fabric::nic::sim {
namespace {

using testing::HasSubstr;

std::string optane() {
  for (const ProfileText& profile : built_in_profiles()) {
    if (profile.name == "optane") {
      return std::string(profile.text);
    }
  }
  return {};
}

std::string with(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Profile, every_file_is_built_in) {
  std::set<std::string> files;
  for (const auto& file : std::filesystem::directory_iterator(REMORA_PROFILES)) {
    files.insert(file.path().stem());
  }
  std::set<std::string> names;
  for (const ProfileText& profile : built_in_profiles()) {
    names.emplace(profile.name);
  }
  EXPECT_EQ(names, files);
  EXPECT_GE(names.size(), 8u);
}

TEST(Profile, every_number_has_a_source_and_is_plausible) {
  for (const ProfileText& profile : built_in_profiles()) {
    const Result<ProfileListing> listing = list_profile(profile.name);
    ASSERT_TRUE(listing.ok()) << listing.status().message();
    EXPECT_FALSE(listing->numbers.empty());
    for (const ProfileNumber& number : listing->numbers) {
      EXPECT_GE(number.source.size(), 12u) << profile.name << ": " << number.key;
    }
  }
}

TEST(Profile, a_path_serves_as_a_name_does) {
  const Result<NicProfile> by_name = load_nic_profile("connectx-5");
  const Result<NicProfile> by_path =
      load_nic_profile(std::string(REMORA_PROFILES) + "/connectx-5.toml");
  ASSERT_TRUE(by_name.ok()) << by_name.status().message();
  ASSERT_TRUE(by_path.ok()) << by_path.status().message();
  EXPECT_EQ(by_name->bandwidth_bits_per_s, 100'000'000'000u);
  EXPECT_EQ(by_path->bandwidth_bits_per_s, by_name->bandwidth_bits_per_s);
}

TEST(Profile, a_machine_is_made_of_its_parts) {
  const Result<Profile> profile = load_profile();
  ASSERT_TRUE(profile.ok()) << profile.status().message();
  EXPECT_EQ(profile->cpu.crc_ns_per_kb * 4, 4'400u);
  EXPECT_EQ(profile->nic.mtu_bytes, 4096u);
  EXPECT_GT(profile->block.read_4k_per_s, 0u);
  EXPECT_GT(profile->memory.write_bytes_per_s, 0u);
}

TEST(Profile, a_number_is_set_by_its_name_within_its_bounds) {
  Profile profile = load_profile().value();
  ASSERT_TRUE(set_number(profile, "memory.flush_line_ns", 114).ok());
  EXPECT_EQ(profile.memory.flush_line_ns, 114u);
  ASSERT_TRUE(set_number(profile, "cpu.crc_ns_per_kb", 0).ok());
  EXPECT_EQ(profile.cpu.crc_ns_per_kb, 0u);
  EXPECT_THAT(std::string(set_number(profile, "nic.packet_ns", 5000).message()),
              HasSubstr("not between 1 and 1000"));
  EXPECT_THAT(std::string(set_number(profile, "flush_line_ns", 5).message()),
              HasSubstr("memory.flush_line_ns"));
}

TEST(Profile, an_unknown_name_lists_the_known_ones) {
  const Status status = load_memory_profile("bubble").status();
  EXPECT_EQ(status.code(), Code::not_found);
  EXPECT_THAT(std::string(status.message()), HasSubstr("optane"));
}

TEST(Profile, a_missing_file_is_named) {
  const Status status = load_memory_profile("./no/such.toml").status();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("./no/such.toml"));
}

TEST(Profile, a_part_of_another_kind_is_refused) {
  const Status status = load_nic_profile("optane").status();
  EXPECT_EQ(status.code(), Code::invalid_argument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("optane:2: kind"));
}

// Each damage to a good file is told with file, line and key.
struct Damage {
  const char* from;
  const char* to;
  const char* message;
};

class DamagedProfile : public testing::TestWithParam<Damage> {};

TEST_P(DamagedProfile, is_refused_with_file_line_and_key) {
  const Status status =
      parse_memory_profile(with(optane(), GetParam().from, GetParam().to), "my.toml").status();
  EXPECT_EQ(status.code(), Code::invalid_argument);
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Each, DamagedProfile,
    testing::Values(
        Damage{"value = 39400000000", "value = 3", "my.toml:5: read_bytes_per_s.value: 3 is not"},
        Damage{"value = 39400000000", "value = \"x\"", "my.toml:5: read_bytes_per_s.value"},
        Damage{"value = 39400000000", "values = 305", "my.toml:5: read_bytes_per_s.values"},
        Damage{"value = 39400000000", "value = -1", "my.toml:5: read_bytes_per_s.value"},
        Damage{"value = 39400000000", "value = = 1", "my.toml:5: syntax"},
        Damage{"[read_bytes_per_s]", "[read_bytes_per_h]", "my.toml:4: read_bytes_per_h"},
        Damage{"[read_bytes_per_s]", "", "my.toml:6: source: is unknown"},
        Damage{"kind = \"memory\"", "", "my.toml:1: kind: is missing"}));

TEST(Profile, a_number_without_a_source_is_refused) {
  const std::string text = "kind = \"memory\"\n[read_bytes_per_s]\nvalue = 39400000000\n";
  const Status status = parse_memory_profile(text, "my.toml").status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("my.toml:2: read_bytes_per_s.source"));
  const Status empty = parse_memory_profile(text + "source = \"\"\n", "my.toml").status();
  EXPECT_THAT(std::string(empty.message()), HasSubstr("my.toml:4: read_bytes_per_s.source"));
}

TEST(Profile, a_missing_number_is_named) {
  const Status status = parse_cpu_profile("kind = \"cpu\"\n", "my.toml").status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("my.toml:1: crc_ns_per_kb: is missing"));
}

}  // namespace
}  // namespace remora::fabric::nic::sim
