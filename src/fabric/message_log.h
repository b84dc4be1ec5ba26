// MessageLog: places in persistent memory, in a ring, to which a queue pair's device moves the
// messages that it receives (D5 to D10 of queue_pair.h). Bound to one queue pair by its options.
//
// The device fills places in order, place `n % places` at address `offset + n % places *
// place_bytes` of the region; the program gives the oldest ones back when it needs them no more.
// What the program keeps over a power cut it keeps itself: a new MessageLog begins at the place
// that it is told.
//
// In an ordered log a message begins with a line of its own, of which the first word is what makes
// the rest count: the device moves all behind that line, and only when it is persistent stores that
// word at the place's beginning. The other seven words of the line stay as they are.
//
// One thread, the device's. It outlives the queue pair, as the region does.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/check.h"

namespace remora::fabric {

class MemoryRegion;

struct MessageLogOptions {
  std::uint64_t offset = 0;       // of place 0 in the region; of whole lines
  std::uint32_t place_bytes = 0;  // of whole lines; a message is as long at most
  std::uint32_t places = 0;
  std::uint64_t first = 0;  // the number of the place that is filled first
  bool ordered = false;
  // The device moves each message as it comes, and only then tells its sender (RFlush). Else it
  // moves them when the sender asks (SFlush).
  bool by_itself = false;
};

class MessageLog {
 public:
  // The region was registered with the memory that makes it persistent.
  MessageLog(MemoryRegion& region, const MessageLogOptions& options)
      : region_(region), options_(options), filled_(options.first), freed_(options.first) {}
  MessageLog(const MessageLog&) = delete;
  MessageLog& operator=(const MessageLog&) = delete;

  MemoryRegion& region() const { return region_; }
  const MessageLogOptions& options() const { return options_; }

  // Numbers of places: the next one to be filled, and the oldest that was not given back.
  std::uint64_t filled() const { return filled_; }
  std::uint64_t freed() const { return freed_; }
  bool has_room(std::uint64_t messages) const {
    return messages <= options_.places - (filled_ - freed_);
  }
  std::uint64_t offset_of(std::uint64_t number) const {
    return options_.offset + number % options_.places * options_.place_bytes;
  }
  // What a message has to have; the first line of an ordered one is its own.
  std::uint32_t least_bytes() const {
    return options_.ordered ? static_cast<std::uint32_t>(cache_line_bytes) : 0;
  }

  // The program is past the oldest so many.
  void give_back(std::uint64_t places) {
    REMORA_CHECK(places <= filled_ - freed_, "a place is given back that was not filled");
    freed_ += places;
  }

  // The device's: so many more are filled, and persistent.
  void fill(std::uint64_t places) { filled_ += places; }

 private:
  MemoryRegion& region_;
  const MessageLogOptions options_;
  std::uint64_t filled_;
  std::uint64_t freed_;
};

}  // namespace remora::fabric
