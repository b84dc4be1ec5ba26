// never_lost: once a put or del was acknowledged as persistent, no get that was invoked after a
// later cut returns an older version of the key.
//
// Older means forced: every write that could have left what the get returned (for not found: any
// del, or the beginning of the world) took effect, if at all, before the acknowledged write was
// even invoked. Writes that overlap it, came later, or are still pending may or may not have
// survived, so what they left is accepted here; durably_linearizable looks closer. Values that are
// not whole, or that nobody wrote, are left to never_torn.
//
// Holds for every store: a persistent acknowledgement means the same under every promise, and a
// store that gives none cannot break it. Quadratic in the operations of one key.
#pragma once

#include "lab/check/verdict.h"

namespace remora {

Verdict never_lost(const History& history);

}  // namespace remora
