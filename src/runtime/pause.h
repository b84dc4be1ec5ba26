// pause_briefly: for loops that look again and again.
#pragma once

namespace remora {

// Leaves the execution units to the other thread of the core for a moment.
inline void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace remora
