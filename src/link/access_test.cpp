#include "link/access.h"

#include <gtest/gtest.h>

namespace remora::link {
namespace {

TEST(Access, tells_roles_by_user_and_token) {
  AccessRules rules;
  rules.users = {{.uid = 7, .role = Role::write}};
  rules.tokens = {{.token = "0123456789abcdef", .role = Role::read}};
  constexpr uid_t own = 1;
  EXPECT_EQ(*role_of(rules, own, own, ""), Role::admin);
  EXPECT_EQ(*role_of(rules, 7, own, ""), Role::write);
  EXPECT_EQ(role_of(rules, 8, own, "").code(), Code::permission_denied);
  EXPECT_EQ(*role_of(rules, 8, own, "0123456789abcdef"), Role::read);
  EXPECT_EQ(*role_of(rules, own, own, "0123456789abcdef"), Role::read);
  EXPECT_EQ(role_of(rules, own, own, "0123456789abcdeX").code(), Code::permission_denied);
  rules.others = Role::read;
  EXPECT_EQ(*role_of(rules, 8, own, ""), Role::read);
  EXPECT_EQ(role_of(rules, std::nullopt, own, "").code(), Code::permission_denied)
      << "a client whose user nobody knows has a token or nothing";
  EXPECT_EQ(*role_of(rules, std::nullopt, own, "0123456789abcdef"), Role::read);
}

}  // namespace
}  // namespace remora::link
