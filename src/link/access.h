// Access: who may do what. A client is known by its user, which the kernel tells, or by a token,
// which it presents.
//
//   read    get and scan; no right on any byte of the pool but to read it
//   write   put and del too
//   admin   may stop the server too
//
// The server's own user is admin, whatever the rules say: its processes could do as much without
// asking. A client that presents a token has the role of that token, be it less than its user's. A
// client whose user nobody knows, as one from the network, has a token or nothing.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace remora::link {

enum class Role : std::uint8_t { none, read, write, admin };

std::string_view to_string(Role role);
// "read", "write" or "admin".
Result<Role> parse_role(std::string_view text);

struct UserRule {
  uid_t uid = 0;
  Role role = Role::none;
};
struct TokenRule {
  std::string token;
  Role role = Role::none;
};

inline constexpr std::size_t token_bytes_min = 16;
inline constexpr std::size_t token_bytes_max = 108;

struct AccessRules {
  std::vector<UserRule> users;
  std::vector<TokenRule> tokens;
  Role others = Role::none;             // of users of this machine that no rule names
  std::uint32_t clients_per_user = 16;  // links of one user other than the server's own

  // Whether anybody but the server's own user may come.
  bool for_others() const { return others != Role::none || !users.empty() || !tokens.empty(); }
};

// Of so many places, those that clients of other users may take. The rest only the server's own
// user gets: whatever others do, it can still look and stop.
constexpr std::uint32_t places_for_others(std::uint32_t places) {
  return places < 2 ? places : places - std::max(1u, places / 8);
}

// The role of a client; no uid: nobody knows its user. Fails with permission_denied when it has
// none, or its token is no token.
Result<Role> role_of(const AccessRules& rules, std::optional<uid_t> uid, uid_t server_uid,
                     std::string_view token);

}  // namespace remora::link
