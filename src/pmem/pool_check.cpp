// Looking at all structures of a pool at once, while it is open.
#include <cstring>
#include <string>

#include "pmem/pool.h"
#include "pmem/pool_checks.h"

namespace remora {

using pool_format::Header;
using pool_format::Root;

namespace {

Status not_as_written(const char* part, Offset place) {
  return Status(Code::damaged, std::string(part) + " is damaged at " + std::to_string(place) +
                                   ": it is not what was written there" + pool_format::remedy);
}

}  // namespace

// A word that waits in the log is not in place yet; nearly all are.
bool Pool::is_word(Offset place, std::uint64_t value) const {
  return remora::load<std::uint64_t>(region_.data() + place) == value || log_.load(place) == value;
}

Status Pool::check_in_full() {
  if (std::memcmp(region_.data(), &header(), sizeof(Header)) != 0) {
    return not_as_written("the header", 0);
  }
  for (std::size_t i = 0; i < layout_.extensions().size(); ++i) {
    const Offset place = pool_format::extension_place(i);
    const pool_format::Extension& expected = layout_.extensions()[i];
    if (std::memcmp(region_.data() + place, &expected, sizeof expected) != 0) {
      return not_as_written("the header", place);
    }
  }
  REMORA_TRY(log_.check_control());
  REMORA_TRY(check_total());
  for (std::size_t i = 0; i < roots_.size(); ++i) {
    std::array<std::uint64_t, sizeof(Root) / word_bytes> words;
    std::memcpy(words.data(), &roots_[i], sizeof(Root));
    // Of a root that is not in use, the rest has no meaning.
    const std::size_t meant = roots_[i].in_use == 0 ? 1 : words.size();
    for (std::size_t word = 0; word < meant; ++word) {
      if (!is_word(root_place(i) + word * word_bytes, words[word])) {
        return not_as_written("a root", root_place(i));
      }
    }
  }
  Status found;
  allocator_.for_each_word([&](Offset place, std::uint64_t value) {
    if (!is_word(place, value)) {
      found = not_as_written(layout_.is_summary(place) ? "the summary" : "the block table", place);
    }
    return found.ok();
  });
  return found;
}

}  // namespace remora
