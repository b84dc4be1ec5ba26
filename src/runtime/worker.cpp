#include "runtime/worker.h"

#include "runtime/pause.h"

namespace remora {
namespace {

// Looks for the next piece before the thread sleeps: some microseconds, about what waking it takes.
constexpr int most_looks = 2'000;

}  // namespace

Worker::Worker(Runtime& runtime) : runtime_(runtime) {
  runtime_.add_poller(*this);
  thread_ = std::thread([this] { serve(); });
}

Worker::~Worker() {
  stop_.store(true);
  // Something that is no piece, so that a sleeper sees a change.
  static Piece* const nothing = reinterpret_cast<Piece*>(1);
  Piece* expected = nullptr;
  next_.compare_exchange_strong(expected, nothing);
  next_.notify_one();
  thread_.join();
}

Task<void> Worker::run_piece(void (*call)(void*), void* work) {
  Piece piece(*this, call, work);
  queue_.push_back(piece);
  hand_over();
  co_await piece.done;
}

void Worker::hand_over() {
  if (at_ == nullptr && !queue_.empty()) {
    at_ = &queue_.pop_front();
    next_.store(at_);
    next_.notify_one();
  }
}

void Worker::forget(Piece& piece) {
  if (at_ == &piece) {
    ended_.wait(false);
    ended_.store(false);
    at_ = nullptr;
    hand_over();
  }
}

bool Worker::poll() {
  if (at_ == nullptr || !ended_.load(std::memory_order_acquire)) {
    return false;
  }
  ended_.store(false, std::memory_order_relaxed);
  Piece& piece = *at_;
  at_ = nullptr;
  hand_over();
  piece.done.set();
  return true;
}

void Worker::serve() {
  for (;;) {
    for (int look = 0; look < most_looks && next_.load() == nullptr; ++look) {
      pause_briefly();
    }
    next_.wait(nullptr);
    if (stop_.load()) {
      return;
    }
    Piece* const piece = next_.exchange(nullptr);
    piece->call(piece->work);
    ended_.store(true);
    ended_.notify_one();
    runtime_.wake();
  }
}

}  // namespace remora
