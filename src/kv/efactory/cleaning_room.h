// CleaningRoom: what puts may take of the log, so that cleaning always finds room for its copies,
// and how fast they may take it while the log is scanned.
//
// One thread. What it is handed outlives it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "kv/efactory/catalogue.h"
#include "kv/efactory/cleaning_stages.h"

namespace remora::kv::efactory {

// What living objects may take of the log, in about: as much has to be free for their copies, and a
// little more. Objects that are nearly as long as a segment waste some of it.
std::uint64_t usable_bytes(const Log& log);

class CleaningRoom {
 public:
  CleaningRoom(const Catalogue& catalogue, const CleaningStage& stage)
      : catalogue_(catalogue), stage_(stage) {}

  // What copies may need: of all that lives or, once that is known, of what is left to be copied.
  std::uint64_t needed_for_copies() const;
  bool is_enough_for_all() const;
  // Whether an object of this size leaves what copies need.
  bool is_enough_beside(std::uint64_t size_bytes) const;
  // Whether a client may put something now, if there is room.
  bool in_pace() const;

  // A version was put; a client has put it.
  void took(std::uint64_t size_bytes) {
    if (stage_ == CleaningStage::compress) {
      *to_copy_bytes_ += size_bytes;
    }
  }
  void took_in_pace(std::uint64_t size_bytes) { pace_.taken_bytes += size_bytes; }

  // A cleaning copies no more than this from here on, and scans so much: all that lives, or parts.
  void begin_all(std::uint64_t to_scan_bytes);
  void begin_parts(std::uint64_t to_copy_bytes, std::uint64_t to_scan_bytes);
  void copied(std::uint64_t size_bytes) {
    if (to_copy_bytes_) {
      *to_copy_bytes_ -= std::min(*to_copy_bytes_, size_bytes);
    }
  }
  void scanned(std::uint64_t size_bytes) { pace_.scanned_bytes += size_bytes; }
  void scanned_to(std::uint64_t all_bytes) { pace_.scanned_bytes = all_bytes; }
  // All is scanned: puts need not wait for that any more.
  void end_pace() { pace_ = {}; }
  void end() {
    pace_ = {};
    to_copy_bytes_.reset();
  }

 private:
  struct Pace {
    std::uint64_t room_bytes = 0;   // for what is put until all is scanned
    std::uint64_t taken_bytes = 0;  // by clients
    std::uint64_t to_scan_bytes = 0;
    std::uint64_t scanned_bytes = 0;
  };

  void set_pace(std::uint64_t to_scan_bytes);

  const Catalogue& catalogue_;
  const CleaningStage& stage_;
  Pace pace_;                                   // while the log is scanned
  std::optional<std::uint64_t> to_copy_bytes_;  // no more than this is left, once that is known
  std::uint64_t live_at_begin_ = 0;             // of the last cleaning of all, in bytes
};

}  // namespace remora::kv::efactory
