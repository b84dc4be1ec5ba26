#include "lab/figures/figure.h"

#include <fmt/format.h>

#include <algorithm>

namespace remora::figures {

std::string Figure::key() const {
  std::string key = paper + "-" + id;
  std::replace(key.begin(), key.end(), ' ', '-');
  return key;
}

const ClaimReading* Figure::reading_of(std::string_view claim) const {
  const auto found = std::find_if(claims.begin(), claims.end(),
                                  [&](const ClaimReading& one) { return one.claim == claim; });
  return found == claims.end() ? nullptr : &*found;
}

std::string Figure::x_name(double position) const {
  for (std::size_t i = 0; i < x.positions.size(); ++i) {
    if (x.positions[i] == position) {
      return x.names[i];
    }
  }
  return fmt::format("{}", position);
}

std::string to_text(const Profile& profile) {
  std::string text;
  for (const std::string* name : {&profile.nic, &profile.memory, &profile.cpu}) {
    if (!name->empty()) {
      text += (text.empty() ? "" : ", ") + *name;
    }
  }
  return text;
}

}  // namespace remora::figures
