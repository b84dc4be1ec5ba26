// together: writes of several keys happened wholly or not at all, for everybody and at every cut.
//
// Between cuts, all writes (of one key, or of several at once) and all gets are in one order which
// agrees with real time, in which every get finds what the latest write of its key has left, and in
// which the conditions of a write held when it happened. What is known of that order is collected
// until nothing follows any more: a write that came before a get, and is not what it found, came
// before what it found; and so on. A write or get that comes before itself is a violation. So what
// is called a violation is one; an order may be missing all the same where none is called.
//
// At a cut a write of several keys is kept on all its keys or lost on all of them. It is kept if it
// was acknowledged as persistent, if a get that promises so has returned a part of it, or if a
// later get finds a part of it, or what came after it on one of its keys. It is lost if a later get
// finds what came before it. One that is both is a violation.
//
// What single keys show, the other checkers judge. Cubic in the operations of one epoch, by words.
#pragma once

#include "lab/check/verdict.h"

namespace remora {

// `returned_survives`: what a get returned survives every cut.
Verdict together(const History& history, bool returned_survives);

}  // namespace remora
