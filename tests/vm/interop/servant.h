// The two halves by which a test moves the station of another machine: Servant does there what it
// is told, Remote tells it. So a case stands in one place, in the program that asks; the other one
// only has its memory and its receives ready, and tells what came.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/vm/interop/station.h"
#include "tests/vm/interop/talk.h"

namespace remora::fabric::interop {

// How a case wants the two connected.
struct Terms {
  std::uint32_t loss_ppm = 0;
  std::uint64_t loss_seed = 1;
  std::uint8_t rnr_retry = 7;
  // Long, since an emulated machine may be slow to answer; short where packets do get lost.
  std::uint64_t timeout_ns = 1'000'000'000;

  ConnectOptions connect_options() const {
    return {.timeout_ns = timeout_ns, .rnr_retry = rnr_retry, .rnr_delay_ns = 10'000'000};
  }
};

// Serves one caller until it hangs up.
Status serve(const StationOptions& options, Talk talk);

// The station of the other machine. `near` works while an answer is awaited. A servant that fails
// to do something ends the test: there is nothing to go on with.
class Remote {
 public:
  explicit Remote(Talk talk) : talk_(std::move(talk)) {}

  // A new station there; then both are connected.
  Status open(const Terms& terms);
  Status connect(Station& near, const Terms& terms);

  const QueuePairAddress& address() const { return address_; }
  RemoteAddress at(std::size_t offset) const { return {memory_.address + offset, memory_.key}; }
  AccessFlags access() const { return access_; }
  const std::string& description() const { return description_; }

  void put(Station& near, std::size_t offset, ConstBytes bytes);
  std::vector<std::byte> get(Station& near, std::size_t offset, std::size_t size_bytes);
  void post_receive(Station& near, std::uint64_t id, std::size_t offset, std::size_t size_bytes);
  // The next one; waits for it.
  WorkCompletion completion(Station& near);
  std::uint64_t lost(Station& near);
  // Its memory stays, and is no device's any more.
  void forget_region(Station& near);

 private:
  Message ask(Station* near, const Message& order);

  Talk talk_;
  QueuePairAddress address_;
  RemoteAddress memory_;
  AccessFlags access_ = 0;
  std::string description_;
};

}  // namespace remora::fabric::interop
