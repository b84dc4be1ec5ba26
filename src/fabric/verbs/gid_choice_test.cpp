#include "fabric/verbs/gid_choice.h"

#include <gtest/gtest.h>

#include <vector>

namespace remora::fabric::verbs {
namespace {

constexpr Gid ipv4 = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 168, 1, 2};
constexpr Gid link_local = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x50, 0x54, 0, 0xff, 0xfe, 1, 2, 3};
constexpr Gid global_ipv6 = {0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

TEST(GidChoice, prefers_the_second_version_of_roce_with_an_ipv4_address) {
  const std::vector<GidEntry> table = {{0, GidKind::roce_v1, link_local},
                                       {1, GidKind::roce_v2, link_local},
                                       {2, GidKind::roce_v1, ipv4},
                                       {3, GidKind::roce_v2, ipv4},
                                       {4, GidKind::roce_v2, global_ipv6}};
  EXPECT_EQ(choose_gid(table)->index, 3u);
}

TEST(GidChoice, prefers_a_global_ipv6_address_to_a_link_local_one) {
  const std::vector<GidEntry> table = {{0, GidKind::roce_v2, link_local},
                                       {1, GidKind::roce_v2, global_ipv6}};
  EXPECT_EQ(choose_gid(table)->index, 1u);
}

TEST(GidChoice, takes_the_lowest_index_of_equals) {
  const std::vector<GidEntry> table = {{7, GidKind::roce_v2, ipv4}, {5, GidKind::roce_v2, ipv4}};
  EXPECT_EQ(choose_gid(table)->index, 5u);
}

TEST(GidChoice, takes_the_one_asked_for_whatever_it_is) {
  const std::vector<GidEntry> table = {{0, GidKind::roce_v1, link_local},
                                       {1, GidKind::roce_v2, ipv4}};
  EXPECT_EQ(choose_gid(table, 0)->kind, GidKind::roce_v1);
  EXPECT_FALSE(choose_gid(table, 9).has_value());
}

TEST(GidChoice, finds_nothing_in_a_table_without_addresses) {
  EXPECT_FALSE(choose_gid({}).has_value());
  const std::vector<GidEntry> table = {{0, GidKind::roce_v2, Gid{}}};
  EXPECT_FALSE(choose_gid(table).has_value());
}

TEST(GidChoice, says_addresses_as_people_write_them) {
  EXPECT_EQ(to_text(ipv4), "192.168.1.2");
  EXPECT_EQ(to_text(global_ipv6), "2001:db8::1");
}

TEST(GidChoice, a_lid_travels_in_a_gid_of_the_default_subnet) {
  ASSERT_TRUE(carries_lid(link_local));
  const Gid packed = with_lid(link_local, 0xbeef);
  EXPECT_EQ(lid_of(packed), 0xbeef);
  EXPECT_EQ(with_lid(packed, 0), link_local);
  EXPECT_FALSE(carries_lid(global_ipv6));
}

}  // namespace
}  // namespace remora::fabric::verbs
