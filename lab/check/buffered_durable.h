// buffered_durable: between cuts, the operations of each key are linearizable; at a cut the key
// goes back to an earlier point of that same order: to a value that it held at or after the last
// write that was acknowledged as persistent.
//
// As durably_linearizable, but for what a cut may take: every write that was not acknowledged as
// persistent, whether or not it was acknowledged as visible, and whether or not a get returned it
// (monotonic_reads says whether that may be). A cut takes the latest writes, never one from the
// middle, and a recovered value is there for good: no later cut goes back beyond it. A write that
// was lost while its client still waits, across a server-only cut, may take effect once more, and
// must, if it is acknowledged.
//
// Bounded as durably_linearizable is. At most one violation for each key.
#pragma once

#include "lab/check/linearizable.h"

namespace remora {

Verdict buffered_durable(const History& history,
                         std::uint64_t budget_states = default_budget_states);

}  // namespace remora
