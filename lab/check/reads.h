// Small questions about operations that several checkers ask.
#pragma once

#include "lab/check/history.h"

namespace remora {

// Whether it is a get that says something about the versions of its key: it returned not found, or
// a whole value that was written for the key.
bool tells_version(const Operation& operation);

// Whether the write `writer` could have left what the get `get` returned, going by value and by the
// order of invocation and response alone.
bool could_have_left(const Operation& writer, const Operation& get);

}  // namespace remora
