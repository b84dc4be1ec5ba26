// scans: whether keys that scans listed were there, and those that they did not list were not.
//
// A scan is an observation of every key, over all of its time: of one that it lists, that the key
// was there at some moment of it; of any other, that it was missing at some moment. Two
// observations of a key, or a write that was acknowledged and an observation after it, that differ
// need a write between them: a key that was there and is not listed a del, one that was not and is
// listed a put. A cut in between takes what was not acknowledged as persistent, and then nothing is
// compared.
//
// Gets are compared with scans here; among each other they are the other checkers' affair. What was
// scanned may be lost at a cut. Quadratic in the operations of one key and the scans.
#pragma once

#include "lab/check/verdict.h"

namespace remora {

Verdict scans(const History& history);

}  // namespace remora
