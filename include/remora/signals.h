// Signals, which belong to the program: the library handles none, unless it is asked to.
//
// A store maps its pool's file, and so does a connected one on the same machine, for its user. If
// somebody cuts that file short, if the disk under it is full, or persistent memory has an error,
// the next access is a SIGBUS, which ends the program without a word.
#pragma once

#include <remora/error.h>

namespace remora {

// Makes a typed failure of it: the store in question answers with io_error from then on, whatever
// it is asked, and nothing more is acknowledged. SIGBUS of all other memory goes to the handler
// that was there before, or ends the program as it did. Called once, before stores are opened; a
// program that sets a handler of its own afterwards takes this one's place. Any thread.
Expected<void> survive_lost_files();

}  // namespace remora
