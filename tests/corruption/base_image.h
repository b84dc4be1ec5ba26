// BaseImage: a pool as it lies on the medium after a store was stopped, killed or cut off from its
// power in the middle of work, before anything is damaged. It is made in virtual time, so the same
// seed gives the same bytes.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kv/store.h"
#include "pmem/region.h"

namespace remora::corruption {

enum class Ending : std::uint8_t { clean_stop, kill, power_cut };

struct BaseImage {
  std::string name;  // "kill, page"
  Ending ending = Ending::clean_stop;
  std::vector<std::byte> bytes;
  std::vector<std::byte> stale;  // the same pool, some time before
  // Every value that was ever put, by key; no other bytes may ever be answered.
  std::map<std::string, std::set<std::string>> ever;
  // What the key may be now, unless its versions lie behind a mark: values, and "" with `none` for
  // no such key.
  struct Allowed {
    std::set<std::string> values;
    bool none = false;
  };
  std::map<std::string, Allowed> allowed;
};

// Of the engine that people are served by, unless another is named; that one has fewer keys, since
// a rival cleans no log, and no puts by the server's own process.
BaseImage make_base_image(Ending ending, Granularity granularity, std::uint64_t seed,
                          const kv::Engine& engine = *kv::engines().front());

}  // namespace remora::corruption
