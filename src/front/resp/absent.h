// What Redis has and this server does not: so that an error can name it.
#pragma once

#include <string_view>

namespace remora::resp {

// What the command of this name, in any case, is a part of: "hashes". Empty: Redis has no such
// command either, or this server has it.
std::string_view what_is_absent(std::string_view name);

}  // namespace remora::resp
