// The memory of coroutine frames. Small frames come from free lists of the calling thread, by size
// class, so that a flow that runs again and again allocates nothing; how much is kept is bounded
// (limits.h). Larger ones go to operator new. A frame may be freed by another thread than the one
// that allocated it. Under AddressSanitizer every frame is an allocation of its own, so that use
// after free is seen.
#pragma once

#include <cstddef>

namespace remora {

// Memory for a frame of `size_bytes`. Ends the program when there is none.
void* allocate_frame(std::size_t size_bytes) noexcept;

// Gives back what allocate_frame returned for the same size.
void free_frame(void* frame, std::size_t size_bytes) noexcept;

// How many free frames the calling thread keeps for frames of this size.
std::size_t free_frames_kept(std::size_t size_bytes) noexcept;

}  // namespace remora
