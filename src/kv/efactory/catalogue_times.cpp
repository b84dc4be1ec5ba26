// The catalogue's keys that have a time.
#include "kv/efactory/catalogue.h"
#include "kv/efactory/faults.h"

namespace remora::kv::efactory {

void Catalogue::note_time(Tag tag, std::uint64_t expires, std::uint64_t sequence) {
  times_.add(TimedVersion::of(tag, expires, sequence), expiring_,
             [this](const TimedVersion& version) { return is_listed(version); });
}

// Of what recovery found.
void Catalogue::note_times() {
  if (expiring_ == 0 || host_.faults().planted(faults::recovery_forgets_times)) {
    return;
  }
  Tag from = 0;
  do {
    from = index_->scan(from, 1024, [this](const IndexSlot& slot) {
      if (slot.place(newest_of(slot)).expires) {
        const Object object = newest(slot);
        note_time(slot.tag(), object.expires(), object.sequence());
      }
    });
  } while (from != 0);
}

IndexSlot Catalogue::find_timed(const TimedVersion& version) const {
  return index_->find(version.tag, [&](const IndexSlot& slot) {
    if (!slot.place(newest_of(slot)).expires || is_unreadable(slot)) {
      return false;
    }
    const Object object = newest(slot);
    return TimedVersion::of(version.tag, object.expires(), object.sequence()) == version;
  });
}

// A newer one may never come.
bool Catalogue::is_listed(const TimedVersion& version) const {
  return static_cast<bool>(index_->find(version.tag, [&](const IndexSlot& slot) {
    if (is_unreadable(slot)) {
      return false;
    }
    for (std::optional<Object> one = newest(slot); one; one = before(*one)) {
      if (TimedVersion::of(version.tag, one->expires(), one->sequence()) == version) {
        return true;
      }
    }
    return false;
  }));
}

std::uint64_t Catalogue::expired_keys() const {
  if (host_.faults().planted(faults::counts_expired)) {
    return 0;
  }
  return times_.count_due(host_.runtime().wall_ms(), [this](const TimedVersion& version) {
    return static_cast<bool>(find_timed(version));
  });
}

// What hides older versions is on the medium, and none of those was moved to where it is not.
bool Catalogue::may_forget(const Object& newest) const {
  return newest.kind() == Kind::value && newest.durable() && expired(newest) && !log_->cleaning();
}

Catalogue::Expiries Catalogue::forget_expired(std::uint64_t most) {
  Expiries pass;
  pass.goes_on = times_.turn(
      host_.runtime().wall_ms(), most,
      [this](const TimedVersion& version) { return is_listed(version); },
      [&](const TimedVersion& version) { return end_time(version, pass.forgotten); });
  return pass;
}

TimeWheel::Outcome Catalogue::end_time(const TimedVersion& version, std::uint64_t& forgotten) {
  using enum TimeWheel::Outcome;
  const bool takes_any = host_.faults().planted(faults::time_ends_any_version);
  const IndexSlot slot = takes_any
                             ? index_->find(version.tag, [](const IndexSlot&) { return true; })
                             : find_timed(version);
  if (!slot) {
    return is_listed(version) ? later : ended;
  }
  if ((!may_forget(newest(slot)) && !takes_any) || !forget(slot)) {
    return later;
  }
  ++forgotten;
  return ended;
}

// Without room it stays hidden by its time, until a cleaning drops it.
bool Catalogue::forget(IndexSlot slot) {
  if (host_.faults().planted(faults::expired_in_memory)) {
    release(slot);
    return true;
  }
  const ConstBytes key = newest(slot).key();
  return bury(index_->tag(key), slot, key, Reserve::keep).ok();
}

}  // namespace remora::kv::efactory
