// CrashEvent: a moment at which the power may be cut.
#pragma once

#include <cstdint>
#include <string_view>

#include "pmem/region.h"

namespace remora {

enum class EventKind : std::uint8_t {
  flush,
  drain,
  copy,
  commit,
  inbound_post,
  inbound_place,
  inbound_flush,
  inbound_drop,
};

// What takes effect in one step is one event, `after`. The others are two:
//   drain          before, with its snapshots in doubt; after
//   copy           before, with a part of the bytes copied; after
//   commit         before, with its snapshot in doubt; after
//   inbound_flush  before, with all earlier writes placed; after
enum class Moment : std::uint8_t { before, after };

struct CrashEvent {
  EventKind kind = EventKind::flush;
  Moment moment = Moment::after;
  const Site* site = nullptr;  // who asked; null for what the NIC and the group commit do
  std::uint64_t index = 0;     // counts from 0 at power-on
};

constexpr std::string_view to_string(EventKind kind) {
  switch (kind) {
    case EventKind::flush:
      return "flush";
    case EventKind::drain:
      return "drain";
    case EventKind::copy:
      return "copy";
    case EventKind::commit:
      return "commit";
    case EventKind::inbound_post:
      return "inbound_post";
    case EventKind::inbound_place:
      return "inbound_place";
    case EventKind::inbound_flush:
      return "inbound_flush";
    case EventKind::inbound_drop:
      return "inbound_drop";
  }
  return "unknown";
}

constexpr std::string_view to_string(Moment moment) {
  return moment == Moment::before ? "before" : "after";
}

}  // namespace remora
