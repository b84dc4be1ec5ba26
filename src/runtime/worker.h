// Worker: a second thread beside a loop, for pieces of work that take long and touch nothing of the
// loop's but memory: a checksum over a large value, the flush of its lines. A flow hands a piece
// over and goes on, in the loop, when it has been done; the loop does other things meanwhile.
//
// The thread does one piece after another, in the order in which they came. Without any it spins a
// little, then sleeps. Handing over takes no lock and allocates nothing but the flow's frame.
//
// Used on the loop's thread alone. The runtime outlives it, and it outlives every flow that waits;
// one that is abandoned meanwhile waits for the piece that the thread is at.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "runtime/aside.h"
#include "runtime/event.h"
#include "runtime/intrusive_list.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace remora {

class Worker final : public Aside, private Poller {
 public:
  explicit Worker(Runtime& runtime);
  // Waits for the piece that the thread is at.
  ~Worker() override;

  // Pieces that were handed over and are not done.
  bool busy() const { return at_ != nullptr; }

 private:
  struct Piece : ListHook {
    Piece(Worker& worker, void (*function)(void*), void* of)
        : by(worker), call(function), work(of), done(worker.runtime_) {}
    ~Piece() { by.forget(*this); }

    Worker& by;
    void (*const call)(void*);
    void* const work;
    Event done;
  };

  Task<void> run_piece(void (*call)(void*), void* work) override;
  void hand_over();
  // A flow that is abandoned takes its piece with it, when the thread is not at it any more.
  void forget(Piece& piece);
  void serve();

  bool poll() override;
  bool arm_wake() override { return !ended_.load(); }
  bool follows() const override { return true; }
  bool wants_spin() const override { return busy(); }

  Runtime& runtime_;
  IntrusiveList<Piece> queue_;  // what waits for the thread to be free
  Piece* at_ = nullptr;         // what it is at, or was at and has not been seen to have done

  std::atomic<Piece*> next_ = nullptr;  // for the thread to take
  std::atomic<bool> ended_ = false;     // it has done what it was at
  std::atomic<bool> stop_ = false;
  std::thread thread_;  // made last
};

}  // namespace remora
