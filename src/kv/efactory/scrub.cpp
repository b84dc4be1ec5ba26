// The scrubber: computes the checksum of everything that lives, again and again, so that what the
// medium has lost is known before somebody needs it. By itself it takes its time, a few versions at
// once and long pauses; asked for, it goes as fast as requests let it.
#include <algorithm>
#include <cstring>

#include "kv/efactory/server.h"

namespace remora::kv::efactory {
namespace {

// What is looked at before requests have their turn, and between two looks at least.
constexpr std::uint64_t entries_per_look = 4;
constexpr std::uint64_t shortest_pause_ns = 10'000'000;
constexpr std::uint64_t longest_pause_ns = 600'000'000'000;

// Header and key are as they were appended.
bool is_readable(const Object& object, std::uint64_t room) {
  object_format::Header header;
  std::memcpy(&header, object.header_bytes().data(), sizeof header);
  return object_format::plausible(header, room) &&
         header.header_checksum == object_format::header_checksum(header, object.key());
}

}  // namespace

void Catalogue::verify_newest(ConstBytes key) {
  const Tag tag = index_->tag(key);
  if (const IndexSlot slot = find(tag, key, host_)) {
    (void)verify(newest(slot), tag, host_);
  }
}

Catalogue::Scrubbed Catalogue::scrub(Tag from, std::uint64_t most_entries) {
  Scrubbed look;
  std::vector<Offset> found;
  look.next = index_->scan(from, most_entries, [&](const IndexSlot& slot) {
    const Place place = slot.place(newest_of(slot));
    if (place.offset != 0 && !place.deleted) {
      found.push_back(place.offset);
    }
  });
  for (const Offset offset : found) {
    const Object object = log_->at(offset);
    ++look.seen;
    if (!is_readable(object, pool_.header().size_bytes - offset)) {
      ++look.damaged;
    } else if (verify(object, index_->tag(object.key()), background_) == Verdict::damaged) {
      ++look.damaged;
    }
  }
  return look;
}

Status EfactoryServer::scrub() {
  if (!scrub_.hurried) {
    scrub_.hurried = true;
    scrub_.from = 0;
    scrub_.reached = 0;
    scrub_.damaged = 0;
    if (scrub_.pause != nullptr) {
      scrub_.pause->cancel();
    }
    if (scrub_.asked && !scrub_.asked->is_set()) {
      scrub_.asked->set();
    }
  }
  return Status();
}

Task<void> EfactoryServer::scrub_always() {
  Runtime& runtime = background_.runtime();
  for (;;) {
    if (!scrub_.hurried) {
      co_await scrub_pause();
    }
    const std::uint64_t looks = scrub_.hurried ? 1 : scrub_.looks;
    for (std::uint64_t i = 0; i < looks; ++i) {
      const Catalogue::Scrubbed look = catalogue_->scrub(scrub_.from, entries_per_look);
      scrub_.from = look.next;
      scrub_.reached += look.seen;
      scrub_.objects += look.seen;
      scrub_.damaged += look.damaged;
      if (look.next == 0) {
        end_scrub_pass();
      }
      co_await background_.settled();
      co_await runtime.yield();
    }
  }
}

// Long enough that all keys have had their turn when the time is over; until somebody asks.
Task<void> EfactoryServer::scrub_pause() {
  if (options_.scrub_ns == 0) {
    co_await scrub_.asked.emplace(background_.runtime());
    co_return;
  }
  const std::uint64_t looks = catalogue_->keys() / entries_per_look + 1;
  const std::uint64_t look_ns = options_.scrub_ns / looks;
  scrub_.looks = look_ns >= shortest_pause_ns ? 1 : shortest_pause_ns / (look_ns + 1) + 1;
  Sleep pause =
      background_.runtime().sleep_for(std::clamp(look_ns, shortest_pause_ns, longest_pause_ns));
  scrub_.pause = &pause;
  (void)co_await pause;
  scrub_.pause = nullptr;
}

void EfactoryServer::end_scrub_pass() {
  ++scrub_.passes;
  scrub_.last_keys = scrub_.reached;
  scrub_.last_damaged = scrub_.damaged;
  scrub_.last_end_ms = background_.runtime().wall_ms();
  scrub_.reached = 0;
  scrub_.damaged = 0;
  scrub_.hurried = false;
}

}  // namespace remora::kv::efactory
