// What a store shows to other machines, and what it refuses to show by mistake. An address of
// loopback is for this machine alone. Beyond it, doors have what keeps strangers out, or the
// settings say `insecure`.
#pragma once

#include <string>

#include "base/result.h"

namespace remora::link {

// Where a daemon lets people in, and what keeps strangers out there. Places are ADDRESS:PORT;
// empty: no such door.
struct Doors {
  std::string listen = {};
  std::string resp = {};
  std::string metrics = {};
  std::string http = {};  // the live page
  bool has_tokens = false;
  bool has_tls = false;
  bool is_insecure = false;
};

// invalid_argument, with what to do, when
//   `listen` is reached from other machines without tokens,
//   `resp` without tokens and TLS,
//   `metrics` and `http` at all,
// and `is_insecure` is not set.
Status check_exposure(const Doors& doors);

// What becomes of bytes between machines, for people.
std::string network_in_short(bool tls);

}  // namespace remora::link
