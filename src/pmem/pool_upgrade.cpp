// From version 1 to version 2, in place. Version 1 had no checksums in its table and roots, no
// checks in log control and no total, and no accounts; all places are the same.
//
// Why a cut leaves no pool that cannot be opened: recovery by the rules of version 1 is over, and
// with it no record of the log counts any more. Each word that changes here changes by itself, and
// tells of which version it is; as long as the header says version 1, both are taken. Only when all
// are persistent does the header say version 2, with one word, which its checksum does not cover.
#include <algorithm>
#include <cstring>
#include <string_view>

#include "pmem/log_record.h"
#include "pmem/pool.h"
#include "pmem/pool_checks.h"
#include "pmem/pool_faults.h"

namespace remora {

using log_record::store_word;
using pool_format::BlockEntry;
using pool_format::Root;

// Version 1 held stores, and nothing else in the same pool.
Account Pool::account_of_version_one() const {
  constexpr std::string_view store_root = "store";
  for (std::size_t i = 0; i < header_.root_count; ++i) {
    Root root;
    std::memcpy(&root, region_.data() + root_place(i), sizeof root);
    const std::string_view name(root.name.data(), strnlen(root.name.data(), root.name.size()));
    if (root.in_use != 0 && name == store_root) {
      return Account::store;
    }
  }
  return Account::none;
}

Status Pool::upgrade() {
  // Version 1 could not notice that bits of the summary are missing. Look once, before the total
  // vouches for what is there.
  REMORA_TRY(allocator_.check_silent_groups(region_.bytes()));
  if (faults_.planted(pool_faults::version_first)) {
    write_version(header());
  }
  allocator_.for_each_entry([this](Offset place, const BlockEntry& entry) {
    auto* const words = reinterpret_cast<BlockEntry*>(region_.data() + place);
    store_word(words->head, entry.head);
    region_.flush(object_bytes(*words));
  });
  for (std::size_t i = 0; i < roots_.size(); ++i) {
    if (roots_[i].in_use != 0) {
      auto* const words = reinterpret_cast<Root*>(region_.data() + root_place(i));
      store_word(words->in_use, roots_[i].in_use);
      region_.flush(object_bytes(*words));
    }
  }
  log_.upgrade_control(total());
  const Ticket converted = region_.drain();
  REMORA_TRY(region_.wait(converted));
  write_version(header());
  const Ticket upgraded = region_.drain();
  return region_.wait(upgraded);
}

void Pool::write_version(const pool_format::Header& header) {
  std::uint64_t word;
  std::memcpy(&word, &header.version, sizeof word);
  std::byte* const place = region_.data() + offsetof(pool_format::Header, version);
  store_word(*reinterpret_cast<std::uint64_t*>(place), word);
  region_.flush(ConstBytes(place, sizeof word));
}

}  // namespace remora
