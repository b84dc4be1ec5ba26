// Keys with a time: what a change left of one, and whether that explains what is seen.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kv/local_store.h"

namespace remora::lab {

// Their names in a world with others.
inline std::string timed_key(std::uint64_t number) {
  return "timed-" + std::to_string(number);
}
inline bool is_timed(std::string_view key) {
  return key.starts_with("timed-");
}

// What a change left of a key.
struct DatedStep {
  std::uint64_t version = 0;  // 0: not there
  kv::LocalStore::Expiry expires = 0;
  kv::LocalStore::Mark mark = 0;

  bool is_there(std::uint64_t wall_ms) const {
    return version != 0 && (expires == 0 || expires > wall_ms);
  }
  // Where the clock was set back, what had expired by the old one may have been deleted.
  bool may_be_gone(std::uint64_t wall_ms, std::uint64_t latest_wall_ms) const {
    return !is_there(wall_ms) || (expires != 0 && expires <= latest_wall_ms);
  }
};

// The changes of a key since the last cut; the first is what was there then.
using DatedSteps = std::vector<DatedStep>;

// When somebody looked, by the clock; and the latest that a clock has shown.
struct DatedLook {
  std::uint64_t from_ms = 0;
  std::uint64_t until_ms = 0;
  std::uint64_t latest_ms = 0;
};

// Whether it is what one of the steps left.
bool explains(std::span<const DatedStep> steps, const DatedStep& seen, const DatedLook& look);
// The same where no more is known than whether it was there.
bool explains_presence(std::span<const DatedStep> steps, bool there, const DatedLook& look);

// What may be there after the next cut, of a key that was found so after one.
DatedSteps after_cut(const DatedSteps& steps, const DatedStep& seen, std::uint64_t wall_ms);

// " 3 until 17, 4 until 0," for people.
std::string describe(std::span<const DatedStep> steps);

// A value says which version it is.
std::string dated_value(std::uint64_t version, std::size_t size_bytes);
// UINT64_MAX: it is none, or torn.
std::uint64_t dated_version(std::string_view value);
DatedStep dated_step(const kv::LocalStore::Found& found);

}  // namespace remora::lab
