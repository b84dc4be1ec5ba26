#include "runtime/frame_pool.h"

#include <cstdint>
#include <new>

#include "base/check.h"
#include "runtime/limits.h"

namespace remora {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool pooled = false;
#else
constexpr bool pooled = true;
#endif

constexpr std::size_t class_count = limits::frame_largest_bytes / limits::frame_class_bytes;

struct FreeFrame {
  FreeFrame* next;
};

struct SizeClass {
  FreeFrame* first = nullptr;
  std::uint32_t kept = 0;
};

enum class Life : std::uint8_t { unused, serving, over };

// Constant-initialised and trivially destroyed, so that reaching it costs no guard, and so that
// frames freed late in the life of a thread still find it.
struct Pool {
  SizeClass classes[class_count];
  Life life = Life::unused;
};

constinit thread_local Pool pool;

// Frees what the thread kept when the thread ends.
struct Reaper {
  Reaper() { pool.life = Life::serving; }
  Reaper(const Reaper&) = delete;
  Reaper& operator=(const Reaper&) = delete;
  ~Reaper() {
    pool.life = Life::over;
    for (SizeClass& size_class : pool.classes) {
      while (size_class.first != nullptr) {
        FreeFrame* frame = size_class.first;
        size_class.first = frame->next;
        ::operator delete(frame);
      }
      size_class.kept = 0;
    }
  }
};

bool poolable(std::size_t size_bytes) {
  return pooled && size_bytes <= limits::frame_largest_bytes;
}

SizeClass& class_of(std::size_t size_bytes) {
  return pool.classes[(size_bytes - 1) / limits::frame_class_bytes];
}

void* fresh(std::size_t size_bytes) {
  void* memory = ::operator new(size_bytes, std::nothrow);
  REMORA_CHECK(memory != nullptr, "no memory for a coroutine frame");
  return memory;
}

}  // namespace

void* allocate_frame(std::size_t size_bytes) noexcept {
  if (!poolable(size_bytes)) {
    return fresh(size_bytes);
  }
  SizeClass& size_class = class_of(size_bytes);
  if (FreeFrame* frame = size_class.first; frame != nullptr) [[likely]] {
    size_class.first = frame->next;
    --size_class.kept;
    return frame;
  }
  // The whole class size, since the block may serve a larger frame of the class next time.
  const std::size_t classes = (size_bytes - 1) / limits::frame_class_bytes + 1;
  return fresh(classes * limits::frame_class_bytes);
}

void free_frame(void* frame, std::size_t size_bytes) noexcept {
  if (!poolable(size_bytes)) {
    ::operator delete(frame);
    return;
  }
  if (pool.life == Life::unused) [[unlikely]] {
    static thread_local Reaper reaper;
    static_cast<void>(reaper);
  }
  SizeClass& size_class = class_of(size_bytes);
  if (size_class.kept == limits::frames_kept_per_class || pool.life == Life::over) {
    ::operator delete(frame);
    return;
  }
  size_class.first = new (frame) FreeFrame{size_class.first};
  ++size_class.kept;
}

std::size_t free_frames_kept(std::size_t size_bytes) noexcept {
  return poolable(size_bytes) ? class_of(size_bytes).kept : 0;
}

}  // namespace remora
