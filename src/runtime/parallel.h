// parallel_for: independent pieces of work spread over the cores, for laboratories that run many
// seeds. Loops and flows stay within one piece.
#pragma once

#include <cstddef>
#include <functional>

namespace remora {

// Calls work(index) once for each index below `count`, on at most `threads` threads at a time, the
// caller's among them (0: as many as the machine has), and returns when all have returned. Indexes
// are handed out in ascending order; more than that about order is not promised, so a result that
// must not depend on it goes to a place of its own index. The work must not throw.
void parallel_for(std::size_t count, std::size_t threads,
                  const std::function<void(std::size_t)>& work);

}  // namespace remora
