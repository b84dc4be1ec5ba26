// Party: one process of a life: a loop, a station, registered memory with two areas, and the lines
// to its peers. A line is a link with one queue pair on it; both sides introduce themselves by
// control messages, then each works on the other as its plan says.
//
// The connector makes the line and says `go` when its queue pair is connected; the listener says it
// too, and begins its load, and the connector begins at that answer. So no request finds a listener
// that does not know yet that it may begin, and a blow never falls on one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/lives/load.h"
#include "tests/lives/stations.h"

namespace remora::fabric::lives {

// For peers that are going to be stopped, whose time-out is waited for. Long enough for a process
// that waits for a core, which sanitizers make it do for longer, and for a machine that stands
// still itself for some tens of milliseconds, as virtual ones do.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr std::uint64_t timeout_ns = 100'000'000;
#else
inline constexpr std::uint64_t timeout_ns = 50'000'000;
#endif
// For all others, nobody of whom is given up for standing still: a machine may let a process wait
// for seconds, and of a killed one the link tells.
inline constexpr std::uint64_t patient_ns = 5'000'000'000;
inline constexpr std::uint8_t retry_count = 3;
// What timeout and retries allow.
inline constexpr std::uint64_t time_out_ns = (retry_count + 1) * timeout_ns;

struct LineOptions {
  std::uint64_t timeout_ns = patient_ns;
  std::size_t area = 0;                             // which of the two
  std::optional<LoadPlan> plan;                     // nothing is posted without
  std::function<void(std::uint64_t)> on_post = {};  // see Load
};

struct Line {
  nic::LinkId link = 0;
  Area area;
  Target peer = {};
  bool joined = false;  // made here, not by the peer
  bool connected = false;
  bool peer_is_through = false;
  std::unique_ptr<CompletionQueue> sends = {};
  std::unique_ptr<CompletionQueue> receives = {};
  std::unique_ptr<QueuePair> qp = {};
  std::unique_ptr<Load> load = {};
};

class Party final : private nic::LinkOwner, private Poller {
 public:
  explicit Party(const WireKind& kind);
  ~Party() override;

  Status listen(const std::string& path) { return station_->listen(path); }
  // The line of the next peer that introduces itself gets these.
  void expect(const LineOptions& options) { expected_ = options; }
  // Connects to a listener; the reason if it does not come about.
  Result<Line*> join(const std::string& path, const LineOptions& options);
  // The line of the peer that came; null until it is connected and its load has begun.
  Line* arrived() const;
  // The queue pair goes, and the link if it is still there.
  void end(Line& line);

  void cut_off(const Line& line) { station_->cut_off(line.link); }
  std::size_t links() const { return station_->links(); }
  Station& station() { return *station_; }
  // Tells the peer that this side's plan is fulfilled.
  void tell_through(const Line& line);

  Area area(std::size_t index) const { return {station_->memory(), index * area::size_bytes}; }
  // The region goes, and its keys with it; a new one takes its place over the same bytes.
  void renew_memory();

  // Runs the loop until it holds, looking every `step_ns`. False when it does not for so long that
  // something hangs.
  bool run_until(const std::function<bool()>& holds, std::uint64_t step_ns = 200'000);
  void run_for(std::uint64_t span_ns) { loop_.run_for(span_ns); }
  std::uint64_t now_ns() const { return loop_.now_ns(); }

 private:
  struct Introduction {
    QueuePairAddress address;
    Target target;
  };

  void control(nic::LinkId link, ConstBytes bytes) override;
  bool poll() override;
  int wake_fd() const override { return station_->wake_fd(); }

  Line& make_line(nic::LinkId link, const LineOptions& options);
  Line* find(nic::LinkId link) const;
  Introduction introduce(const Line& line) const;
  void meet(Line& line, const Introduction& peer);

  PollLoop loop_{{.spin_turns = 50}};
  std::unique_ptr<Station> station_;
  std::unique_ptr<ProtectionDomain> domain_;
  std::unique_ptr<MemoryRegion> region_;
  LineOptions expected_;
  std::optional<LineOptions> joining_;
  std::vector<std::unique_ptr<Line>> lines_;
};

}  // namespace remora::fabric::lives
