#include "link/access.h"

#include <fmt/format.h>

#include <algorithm>

namespace remora::link {
namespace {

// Takes as long for a token that is almost right as for one that is all wrong.
bool same_token(std::string_view one, std::string_view other) {
  unsigned difference = one.size() == other.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(one.size(), other.size()); ++i) {
    difference |= static_cast<unsigned>(static_cast<unsigned char>(one[i] ^ other[i]));
  }
  return difference == 0;
}

}  // namespace

std::string_view to_string(Role role) {
  switch (role) {
    case Role::read:
      return "read";
    case Role::write:
      return "write";
    case Role::admin:
      return "admin";
    default:
      return "none";
  }
}

Result<Role> parse_role(std::string_view text) {
  for (const Role role : {Role::read, Role::write, Role::admin}) {
    if (text == to_string(role)) {
      return role;
    }
  }
  return Status(Code::invalid_argument,
                fmt::format("unknown role '{}'; choose read, write or admin", text));
}

Result<Role> role_of(const AccessRules& rules, std::optional<uid_t> uid, uid_t server_uid,
                     std::string_view token) {
  if (!token.empty()) {
    Role role = Role::none;
    for (const TokenRule& rule : rules.tokens) {
      role = same_token(rule.token, token) ? rule.role : role;
    }
    if (role == Role::none) {
      return Status(Code::permission_denied, "the store knows no such token");
    }
    return role;
  }
  if (!uid) {
    return Status(Code::permission_denied,
                  "a client from the network needs a token of this store; --token presents one");
  }
  if (uid == server_uid) {
    return Role::admin;
  }
  const auto rule = std::ranges::find(rules.users, *uid, &UserRule::uid);
  const Role role = rule == rules.users.end() ? rules.others : rule->role;
  if (role == Role::none) {
    return Status(Code::permission_denied,
                  fmt::format("user {} has no role at this store; ask for a token, or for a line "
                              "in its [access] settings",
                              *uid));
  }
  return role;
}

}  // namespace remora::link
