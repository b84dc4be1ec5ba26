// when_all: waits for several tasks. They run side by side, since tasks start when they are made.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/task.h"

namespace remora {

// Goes on when every task has finished. The caller keeps the tasks, which must stay where they are
// until then; the results stay in them, for take().
template <typename T, std::size_t extent>
Task<void> when_all(std::span<Task<T>, extent> tasks) {
  for (Task<T>& task : tasks) {
    co_await task.wait();
  }
}

// Takes the tasks over and gives their results, in the order of the tasks.
template <typename T>
requires(!std::is_void_v<T>) Task<std::vector<T>> when_all(std::vector<Task<T>> tasks) {
  co_await when_all(std::span(tasks));
  std::vector<T> results;
  results.reserve(tasks.size());
  for (Task<T>& task : tasks) {
    results.push_back(task.take());
  }
  co_return results;
}

template <typename T, std::size_t n, std::size_t... i>
std::array<T, n> take_all(std::array<Task<T>, n>& tasks, std::index_sequence<i...>) {
  return {tasks[i].take()...};
}

template <typename T, std::size_t n>
requires(!std::is_void_v<T>) Task<std::array<T, n>> when_all(std::array<Task<T>, n> tasks) {
  co_await when_all(std::span(tasks));
  co_return take_all(tasks, std::make_index_sequence<n>());
}

inline Task<void> when_all(std::vector<Task<void>> tasks) {
  co_await when_all(std::span(tasks));
}

template <std::size_t n>
Task<void> when_all(std::array<Task<void>, n> tasks) {
  co_await when_all(std::span(tasks));
}

}  // namespace remora
