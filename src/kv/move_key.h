// Moving a key of a local store to another name, in steps that a power cut may come between: what
// is put is persistent before what is deleted after it, so that one of the two names is there at
// any time. For a while both may be.
#pragma once

#include "kv/local_store.h"

namespace remora::kv {

// How far it has come; kept by the caller from step to step.
struct KeyMove {
  std::uint64_t version = 0;  // that was copied; 0: none yet
  LocalStore::Mark mark = 0;  // of the copy
};

enum class Moved : std::uint8_t {
  done,
  waits,  // to be called again when the copy is persistent
};

// Takes the next steps. What others make of the key meanwhile stays: only what was copied is
// deleted. Failures: not_found before the copy is made, and those of put and del.
Result<Moved> move_key(LocalStore& store, ConstBytes from, ConstBytes to, KeyMove& move);

// The last step, of one whose copy is made and persistent.
Status end_move(LocalStore& store, ConstBytes from, const KeyMove& move);

}  // namespace remora::kv
