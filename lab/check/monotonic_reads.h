// monotonic_reads: once a get returned a version of a key, no later get returns an older one.
//
// Later means that the first get had its answer before the second was invoked. Which of two
// versions is older is taken only from what is forced:
//   - one write was closed before the other was invoked;
//   - one version was returned before the other was even asked for;
//   - one get returned the first before another, later, get returned the second;
//   - and chains of these.
// Writes that overlap have no order until gets show one; from then on it must stay. A put happens
// once: seen, gone, and seen again is a step back. Not found is older than a value when no del can
// have come after it.
//
// Values that are not whole, or that nobody wrote, are left to never_torn; a get that is stale but
// does not step back is left to the linearizability checkers. At most one violation for each key
// and each group of reads. Costs n^3 / 64 for n versions and reads of one key.
#pragma once

#include "lab/check/verdict.h"

namespace remora {

struct MonotonicReads {
  // Reads of different clients are held together; otherwise each client's reads by themselves.
  bool across_clients = true;
  // A version that a get returned survives a cut. Otherwise the reads between two cuts are held
  // together, and a cut may take the key back.
  bool across_cuts = true;
};

Verdict monotonic_reads(const History& history, const MonotonicReads& setting);

}  // namespace remora
