#include "cli/store_bench/lists.h"

namespace remora::cli {

std::vector<std::string> split_list(std::string_view text, std::string_view whole) {
  std::vector<std::string> members;
  bool in_mix = false;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    const bool is_whole = !whole.empty() && part.starts_with(std::string(whole) + ":");
    const bool is_mix = part.find(':') != std::string_view::npos && !is_whole;
    if (is_mix && in_mix) {
      members.back() += ",";
      members.back() += part;
    } else {
      members.emplace_back(part);
    }
    in_mix = is_mix;
    begin = end + 1;
  }
  return members;
}

}  // namespace remora::cli
