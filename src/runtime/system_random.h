// Bytes from the system's random source: for keys, identities and first sequence numbers. Any
// thread. Ends the program if the system has no such source, since keys must not be guessable.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace remora {

void fill_random(Bytes bytes);

std::uint64_t random_word();

}  // namespace remora
