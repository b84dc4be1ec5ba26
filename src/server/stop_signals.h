// StopSignals: SIGINT and SIGTERM as something that a loop hears of, in place of an end in the
// middle of whatever is under way; and SIGHUP, which asks for settings to be read again, or, where
// there are none to be read, for the end too.
//
// From its making to its end the signals are blocked in the thread that made it, and in threads
// that start meanwhile: make it before any other thread. One of each process.
#pragma once

#include <signal.h>

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "runtime/runtime.h"
#include "server/occasional_poller.h"

namespace remora::server {

class StopSignals final : public OccasionalPoller {
 public:
  // The loop outlives it.
  static Result<std::unique_ptr<StopSignals>> create(Runtime& runtime, bool can_reread = false);
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals() override;

  // From now on they change nothing, for the rest of the process: for one that has ended its work
  // and is about to end. One more that comes then must not make its end look like another.
  static void ignore();

  // How many came that ask for the end, and for settings to be read again.
  std::uint32_t count() const { return count_; }
  std::uint32_t rereads() const { return rereads_; }

  int wake_fd() const override { return descriptor_; }

 private:
  StopSignals(int descriptor, const sigset_t& before, bool can_reread)
      : descriptor_(descriptor), before_(before), can_reread_(can_reread) {}

  bool serve() override;
  void took(int signal);

  const int descriptor_;
  const sigset_t before_;
  const bool can_reread_;
  std::uint32_t count_ = 0;
  std::uint32_t rereads_ = 0;
};

}  // namespace remora::server
