#include "lab/memory/crash_memory.h"

#include <algorithm>

#include "base/check.h"

namespace remora {

CrashMemory::CrashMemory(std::size_t size_bytes, Platform platform, Random random, SiteTable* sites)
    : images_(size_bytes),
      inbound_(images_),
      random_(random),
      sites_(sites != nullptr ? sites : &own_sites_) {
  set_platform(platform);
  inbound_.reset(in_force_);
}

void CrashMemory::set_platform(Platform platform) {
  platform_ = platform;
  in_force_ = in_force(platform);
  strategy_ = Strategy{.granularity = platform.granularity,
                       .survives_power_cut = true,
                       .method = "crash world: " + to_string(platform),
                       .reason = "a simulated medium that keeps what the crash model promises"};
}

void CrashMemory::restart(ConstBytes image) {
  images_.reset(image);
  inbound_.reset(in_force_);
  commits_.reset();
  for (Actor& actor : actors_) {
    actor.on_the_way.clear();
    actor.pages.clear();
    actor.last = Ticket{};
    if (actor.removed) {
      actor.used = actor.removed = false;
    }
  }
  killed_ = false;
  events_ = 0;
  near_ = 0;
}

void CrashMemory::kill() {
  inbound_.drop_all(random_);
  if (on_pages()) {
    restart(visible());
    return;
  }
  for (Actor& actor : actors_) {
    for (const LineSnapshot& snapshot : actor.on_the_way) {
      images_.make_durable(snapshot);
    }
    actor.on_the_way.clear();
    if (actor.removed) {
      actor.used = actor.removed = false;
    }
  }
  killed_ = true;
}

void CrashMemory::restart(ConstBytes image, Platform platform, Random random) {
  if (platform != platform_) {
    set_platform(platform);
  }
  random_ = random;
  restart(image);
}

// --- Events

void CrashMemory::event(EventKind kind, Moment moment, const Site* site) {
  if (early_one_in_ != 0 && in_force_.domain == Domain::dmp && random_.chance(1, early_one_in_)) {
    write_some_back();
  }
  const CrashEvent event{.kind = kind, .moment = moment, .site = site, .index = events_++};
  if (on_event_) {
    on_event_(event);
  }
}

// Looks for dirty lines in a window only: comparing all of both images would cost more than the
// rest of a run. Half of the windows are where something happened last, half anywhere.
void CrashMemory::write_some_back() {
  constexpr std::size_t window_lines = 256;
  constexpr int max_lines = 8;
  const std::size_t lines = images_.line_count();
  const std::size_t window = std::min(window_lines, lines);
  const std::size_t first =
      random_.chance(1, 2) ? near_ + lines - random_.below(window) : random_.below(lines);
  int written = 0;
  for (std::size_t i = 0; i < window && written < max_lines; ++i) {
    const auto line = static_cast<LineIndex>((first + i) % lines);
    if (images_.line_dirty(line) && random_.chance(1, 2)) {
      write_line_back(line);
      ++written;
    }
  }
}

void CrashMemory::write_line_back(LineIndex line) {
  const bool whole = random_.chance(1, 2);
  for (std::size_t i = 0; i < words_per_line; ++i) {
    const auto word = static_cast<WordIndex>(std::size_t{line} * words_per_line + i);
    if (images_.dirty(word) && (whole || random_.chance(1, 2))) {
      images_.write_back(word);
    }
  }
}

// --- CPU actors

ActorId CrashMemory::add_actor() {
  const auto unused = [](const Actor& actor) { return !actor.used; };
  auto actor = std::find_if(actors_.begin(), actors_.end(), unused);
  if (actor == actors_.end()) {
    actor = actors_.emplace(actors_.end());
  }
  actor->used = true;
  return static_cast<ActorId>(actor - actors_.begin());
}

void CrashMemory::remove_actor(ActorId actor) {
  actors_[actor].removed = true;
}

std::uint64_t CrashMemory::offset_of(const std::byte* begin, std::size_t size) const {
  const auto base = reinterpret_cast<std::uintptr_t>(visible().data());
  const auto at = reinterpret_cast<std::uintptr_t>(begin);
  REMORA_CHECK(at >= base && within(at - base, size, images_.size_bytes()),
               "a range outside the region");
  return at - base;
}

void CrashMemory::take_snapshot(Actor& actor, std::uint64_t offset, std::uint64_t size) {
  const std::uint64_t unit = on_pages() ? page_bytes : cache_line_bytes;
  const std::uint64_t first = offset / unit;
  const std::uint64_t end = round_up(offset + size, unit) / unit;
  if (on_pages()) {
    for (std::uint64_t page = first; page < end; ++page) {
      actor.pages.push_back(static_cast<PageIndex>(page));
    }
  } else {
    images_.take(static_cast<LineIndex>(first), end - first, actor.on_the_way);
  }
  near_ = static_cast<LineIndex>(offset / cache_line_bytes);
}

void CrashMemory::flush(ActorId actor, ConstBytes range, const Site& site) {
  const bool muted = sites_->visit(SiteKind::flush, site);
  if (range.empty()) {
    return;
  }
  const std::uint64_t offset = offset_of(range.data(), range.size());
  if (!muted) {
    take_snapshot(actors_[actor], offset, range.size());
  }
  // A muted call is an event all the same, so that the cuts of a mutant are those of the original.
  event(EventKind::flush, Moment::after, &site);
}

Ticket CrashMemory::drain(ActorId actor_id, const Site& site) {
  const bool muted = sites_->visit(SiteKind::drain, site);
  event(EventKind::drain, Moment::before, &site);
  Actor& actor = actors_[actor_id];
  if (!muted) {
    for (const LineSnapshot& snapshot : actor.on_the_way) {
      images_.make_durable(snapshot);
    }
    actor.on_the_way.clear();
    if (!actor.pages.empty()) {
      actor.last = commits_.join(actor.pages);
      actor.pages.clear();
    }
  }
  const Ticket ticket = muted ? Ticket{} : actor.last;
  event(EventKind::drain, Moment::after, &site);
  return ticket;
}

void CrashMemory::copy(ActorId actor, std::byte* to, ConstBytes from, const Site& site) {
  const bool muted = sites_->visit(SiteKind::copy, site);
  if (from.empty()) {
    return;
  }
  const std::uint64_t offset = offset_of(to, from.size());
  // Half-way is at a word: a word is never torn.
  const std::uint64_t middle = round_down(offset + random_.below(from.size()), word_bytes);
  const std::size_t part = middle > offset ? middle - offset : 0;
  std::memcpy(to, from.data(), part);
  event(EventKind::copy, Moment::before, &site);
  std::memcpy(to + part, from.data() + part, from.size() - part);
  if (!muted) {
    take_snapshot(actors_[actor], offset, from.size());
  }
  event(EventKind::copy, Moment::after, &site);
}

// --- Page media

Status CrashMemory::wait(Ticket ticket) {
  request(ticket);
  while (!persistent(ticket)) {
    if (commits_.failed()) {
      return Status(Code::io_error, "a group commit failed; the region takes no more commits");
    }
    run_requested_commits();
  }
  return Status();
}

void CrashMemory::request(Ticket ticket) {
  if (!persistent(ticket)) {
    commits_.request(ticket);
  }
}

void CrashMemory::run_requested_commits() {
  while (commits_.wanted()) {
    if (!commits_.running()) {
      start_commit();
    }
    finish_commit();
  }
}

void CrashMemory::start_commit() {
  commits_.start(images_);
  event(EventKind::commit, Moment::before);
}

void CrashMemory::finish_commit() {
  commits_.finish(images_, random_);
  event(EventKind::commit, Moment::after);
}

// --- The NIC

std::uint64_t CrashMemory::post_inbound(QpNumber qp, std::uint64_t offset, ConstBytes bytes) {
  const std::uint64_t number = inbound_.post(qp, offset, bytes);
  event(EventKind::inbound_post, Moment::after);
  return number;
}

void CrashMemory::acknowledge(QpNumber qp, std::uint64_t upto) {
  inbound_.acknowledge(qp, upto);
}

void CrashMemory::place_some(Random& random) {
  if (inbound_.place_some(random)) {
    near_ = inbound_.last_line();
    event(EventKind::inbound_place, Moment::after);
  }
}

void CrashMemory::place_all(QpNumber qp) {
  if (inbound_.place_all(qp)) {
    near_ = inbound_.last_line();
    event(EventKind::inbound_place, Moment::after);
  }
}

void CrashMemory::read(QpNumber qp, std::uint64_t offset, Bytes out, Random& random) {
  place_all(qp);
  inbound_.read(qp, offset, out, random);
}

bool CrashMemory::bypass_caches(std::uint64_t offset, std::uint64_t size) {
  if (on_pages()) {
    return false;
  }
  inbound_.bypass(offset, size);
  return true;
}

void CrashMemory::flush_inbound(QpNumber qp, std::uint64_t offset, std::uint64_t size, FlushTo to) {
  place_all(qp);
  event(EventKind::inbound_flush, Moment::before);
  if (to == FlushTo::persistence && in_force_.flush == FlushMeaning::platform) {
    inbound_.make_durable(qp, offset, size);
  }
  event(EventKind::inbound_flush, Moment::after);
}

void CrashMemory::drop_qp(QpNumber qp) {
  inbound_.drop(qp, random_);
  event(EventKind::inbound_drop, Moment::after);
}

// --- A power cut

ConstBytes CrashMemory::kept() const {
  return in_force_.domain == Domain::dmp ? durable() : visible();
}

void CrashMemory::find_doubt(Doubt& out) const {
  for (const Actor& actor : actors_) {
    finder_.add(actor.on_the_way);
  }
  finder_.add(commits_.snapshots());
  finder_.find(images_, inbound_, in_force_, out);
}

Doubt CrashMemory::doubt() const {
  Doubt doubt;
  find_doubt(doubt);
  return doubt;
}

}  // namespace remora
