// never_torn: every value that a get returned is wholly the value of one put of that key: its id,
// its length, its content. Never pieces of several, never another key's bytes, never a value that
// nobody wrote: whose put was refused, or was invoked only after the get had its answer.
//
// Holds for every store under every promise. Linear in the history, up to a logarithm.
#pragma once

#include "lab/check/verdict.h"

namespace remora {

Verdict never_torn(const History& history);

}  // namespace remora
