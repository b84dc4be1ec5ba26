// The stages of a cleaning, in one table: what readers do meanwhile, what writers do, and what a
// cut leaves. docs/engines/efactory.md shows the same table, and a test compares the two.
//
//   all of the log   none > notice > compress > merge > end > free > none
//   a part of it     none > part > free > none
//   no room          compress or merge > give up > none
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "kv/log/log.h"

namespace remora::kv::efactory {

enum class CleaningStage : std::uint8_t { none, notice, compress, merge, end, part, free, give_up };

// How clients find what they get.
enum class Finding : std::uint8_t {
  by_mark,      // by the place of an index entry that its mark names
  newer_first,  // by the place for the new data pool or, where that is empty, by the other
};

struct CleaningRow {
  CleaningStage stage;
  std::string_view name;
  Finding finding;  // what the round says that this stage holds
  DataPool target;  // where new versions go
  std::string_view readers;
  std::string_view writers;
  std::string_view cut;  // what a cut leaves
};

inline constexpr std::array cleaning_table = {
    CleaningRow{CleaningStage::none, "none", Finding::by_mark, DataPool::current,
                "READ by the mark", "append to the log", "one data pool"},
    CleaningRow{CleaningStage::notice, "notice", Finding::newer_first, DataPool::current,
                "are told by a round to look at the place for the new pool first",
                "append to the log", "one data pool"},
    CleaningRow{
        CleaningStage::compress, "compress", Finding::newer_first, DataPool::current,
        "READ the copy if the entry has one, else the original",
        "append to the old pool, and clear the place for the new one; a deletion goes to the "
        "new pool",
        "originals and some copies; of a version and its copy the original counts"},
    CleaningRow{CleaningStage::merge, "merge", Finding::newer_first, DataPool::next,
                "READ the copy if the entry has one, else the original",
                "append to the new pool; a round has shown that nobody writes to the old one",
                "versions in both pools, which recovery takes as one"},
    CleaningRow{CleaningStage::end, "end", Finding::newer_first, DataPool::next,
                "READ the copy or a newer version; entries lose the place for the old pool",
                "append to the new pool",
                "versions in both pools until one word ends the old one; then the new pool alone"},
    CleaningRow{CleaningStage::part, "part", Finding::by_mark, DataPool::current,
                "READ by the mark, which leads to the original or to its copy",
                "append to segments that do not go",
                "originals and some copies; of a version and its copy the original counts"},
    CleaningRow{CleaningStage::free, "free", Finding::by_mark, DataPool::current,
                "READ by the mark; a round ends all that was begun under the old layout",
                "append to the log",
                "segments that go, each of them whole or free; nothing rests on them"},
    CleaningRow{CleaningStage::give_up, "give up", Finding::by_mark, DataPool::current,
                "ask the server while places go back to where the mark says, then READ by the mark",
                "append to the log, which is both pools as one",
                "versions in both pools, which recovery takes as one"},
};

constexpr const CleaningRow& row_of(CleaningStage stage) {
  return cleaning_table[static_cast<std::size_t>(stage)];
}

constexpr bool is_cleaning_table_in_order() {
  for (std::size_t i = 0; i < cleaning_table.size(); ++i) {
    if (cleaning_table[i].stage != static_cast<CleaningStage>(i)) {
      return false;
    }
  }
  return true;
}
static_assert(is_cleaning_table_in_order());

}  // namespace remora::kv::efactory
