// What a store shows to other machines, and what it refuses to show by mistake. An address of
// loopback is for this machine alone. Beyond it, doors have what keeps strangers out, or the
// settings say `insecure`.
#pragma once

#include <string>

#include "base/result.h"
#include "server/settings.h"

namespace remora::server {

// The settings have addresses where there were names. invalid_argument, with what to do, when
//   `listen` is reached from other machines without tokens,
//   `resp` without tokens and TLS,
//   `metrics` at all,
// and `insecure` is not set.
Status check_exposure(const Settings& settings);

// What becomes of bytes between machines, for people.
std::string network_in_short(bool tls);

}  // namespace remora::server
