// Comma lists whose members may have commas themselves: "a,c" are two workloads,
// "read:80,update:20" is one mix, and "a,read:80,update:20" is both.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace remora::cli {

// Neighbours that have a ':' belong together, but for those that begin with `whole` (and a ':'),
// which are members of their own. Empty members stay, for whoever parses them to refuse.
std::vector<std::string> split_list(std::string_view text, std::string_view whole = {});

}  // namespace remora::cli
