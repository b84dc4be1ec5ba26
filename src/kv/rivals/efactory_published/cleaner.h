// Cleaner: log cleaning of eFactory as published, in its two stages (engine.h). A data pool has
// half of the log's space; the other half is for the copies.
//
// A flow on the loop, charged to the background core. One thread. What is handed in outlives it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "kv/rivals/efactory_published/verifier.h"
#include "kv/rivals/efactory_published/versions.h"
#include "runtime/event.h"
#include "runtime/task.h"

namespace remora::kv::efactory_published {

class Cleaner {
 public:
  // What a cleaning asks of those who know the clients.
  struct Calls {
    // Tells every client; does not wait for their answer.
    std::function<Task<void>(std::uint64_t phase)> tell;
    // From here on all that clients are granted is in the new data pool.
    std::function<void()> pool_changes;
    // The space of the old one, these segments, is about to be used again: what they were granted
    // in it is theirs no more.
    std::function<void(const std::vector<Segment>& old)> pool_goes;
  };
  Cleaner(Versions& versions, const Verifier& verifier, const Host& background,
          const ServerOptions& options, Calls calls);

  // The flow, until the medium fails.
  Task<void> keep_up();

  // A put of so many bytes was granted, or a key deleted.
  void took(std::uint64_t size_bytes);
  void deleted();
  // A put found no room. Returns whether a cleaning is under way, or may find some.
  bool press();

  bool busy() const { return !always_ && (is_cleaning_ || is_due()); }
  // Odd while the log is cleaned.
  std::uint64_t phase() const { return phase_; }
  std::uint64_t cleanings() const { return cleanings_; }
  std::uint64_t moved() const { return moved_; }

 private:
  // A segment of the old data pool, and how far it was scanned.
  struct Bound {
    SegmentNumber number = 0;
    std::uint64_t used_bytes = 0;
  };

  bool is_due() const;
  void wake();
  Task<void> clean();
  Task<Status> compress();
  Task<Status> merge();
  Task<Status> end();
  Task<void> give_up();
  Task<Status> scan(const Segment& segment, std::uint64_t from_bytes);
  Task<Status> look_at(Offset offset);
  Task<Status> move_if_needed(Object object);
  bool is_in_list(const Object& object) const;
  Task<Status> decide(Object object);
  Task<bool> is_superseded(Object object);
  Task<Status> move(Object object);
  void lead_to_copy(const Object& object, const Object& copy);
  void flip(Bucket& bucket);
  void lead_back(Bucket& bucket);
  void forget_next(Bucket& bucket);
  void clear_transfer_flags(const Segment& segment);
  Task<void> visit_entries(void (Cleaner::*visit)(Bucket&));
  std::uint64_t half_bytes() const;
  std::uint64_t held_bytes(DataPool pool) const;
  void keep_room(std::uint64_t bytes);

  Versions& versions_;
  const Verifier& verifier_;
  const Host background_;
  const std::uint64_t clean_at_percent_;
  const bool always_;
  const Calls calls_;
  std::optional<Event> to_clean_;
  bool is_cleaning_ = false;
  bool is_pressed_ = false;
  std::uint64_t phase_ = 0;
  std::uint64_t taken_bytes_ = 0;  // by puts since the last cleaning
  bool has_deleted_ = false;       // since then
  std::uint64_t kept_bytes_ = 0;   // that the last cleaning has moved
  std::uint64_t dead_bytes_ = 0;   // of the pool that it has ended
  std::vector<Segment> dead_;      // that pool
  std::uint64_t start_sequence_ = 0;
  std::vector<Bound> bounds_;
  std::uint64_t cleanings_ = 0;
  std::uint64_t moved_ = 0;
};

}  // namespace remora::kv::efactory_published
