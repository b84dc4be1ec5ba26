#include "runtime/parallel.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace remora {

void parallel_for(std::size_t count, std::size_t threads,
                  const std::function<void(std::size_t)>& work) {
  if (threads == 0) {
    threads = std::max<std::size_t>(1, std::thread::hardware_concurrency());
  }
  std::atomic<std::size_t> next = 0;
  const auto run = [&]() noexcept {
    for (std::size_t index = next++; index < count; index = next++) {
      work(index);
    }
  };
  std::vector<std::thread> others;
  try {
    for (std::size_t i = 1; i < std::min(threads, count); ++i) {
      others.emplace_back(run);
    }
  } catch (const std::system_error&) {
    // No more threads to be had: those that there are share the work.
  }
  run();
  for (std::thread& thread : others) {
    thread.join();
  }
}

}  // namespace remora
