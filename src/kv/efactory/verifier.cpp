#include "kv/efactory/verifier.h"

#include <algorithm>

#include "kv/efactory/faults.h"

namespace remora::kv::efactory {
namespace {

// The value comes one round trip after the reply to the request.
constexpr std::uint64_t first_look_ns = 4'000;
constexpr std::uint64_t longest_look_ns = 1'000'000;
constexpr std::uint64_t look_worker_ns = 1'000;
// The reply asks for the commit that it waits for, together with other replies. After so long
// nobody does: the client left.
constexpr std::uint64_t ask_after_ns = 5'000'000;
// So many of the latest puts are taken for those whose values are on their way.
constexpr std::uint64_t on_their_way = 16;
// Values that are worth handing over to the worker.
constexpr std::size_t aside_bytes = 1024;
// What is made persistent with one drain. On page media that is a write to the disk, which costs
// little more for many.
constexpr std::size_t versions_per_batch = 16;
constexpr std::size_t versions_per_commit = 4096;
// What is verified before requests have their turn: so much takes about as long as a request.
constexpr std::uint64_t bytes_per_turn = 1024;

std::uint64_t due_ns(const Awaited& version) {
  return std::max(version.next_look_ns, version.received_ns + first_look_ns);
}

}  // namespace

Verifier::Verifier(Catalogue& catalogue, Committer& commits, Peers& peers, EfactoryLocal& local,
                   std::uint64_t put_timeout_ns, bool verifies_newest)
    : catalogue_(catalogue),
      background_(catalogue.background()),
      commits_(commits),
      peers_(peers),
      local_(local),
      put_timeout_ns_(put_timeout_ns),
      verifies_newest_(verifies_newest),
      flushed_(background_.region().granularity() == Granularity::page ? versions_per_commit
                                                                       : versions_per_batch) {}

// --- Values that are awaited ---

Task<void> Verifier::verify() {
  Runtime& runtime = background_.runtime();
  for (;;) {
    at_work_ = true;
    const std::uint64_t now_ns = runtime.now_ns();
    Pass pass{.now_ns = now_ns, .next_ns = now_ns + longest_look_ns};
    co_await look_at_awaited(pass);
    in_hand_ = 0;
    if (pass.flushed != 0 || catalogue_.marks_pending()) {
      const Status flagged = co_await flag(pass.flushed);
      if (!flagged.ok()) {
        local_.fail();
        at_work_ = false;
        co_return;
      }
      co_await runtime.yield();
    } else if (!catalogue_.awaited().empty()) {
      co_await runtime.sleep_until(std::max(pass.next_ns, runtime.now_ns() + 1));
    } else {
      at_work_ = false;
      co_await to_verify_.emplace(runtime);
    }
  }
}

// In the order of requests: what is complete is flushed, what did not come in time is given up, the
// rest is looked at later.
Task<void> Verifier::look_at_awaited(Pass& pass) {
  Runtime& runtime = background_.runtime();
  std::deque<Awaited>& awaited = catalogue_.awaited();
  for (std::size_t left = awaited.size(); left != 0 && pass.flushed < flushed_.size(); --left) {
    Awaited version = take_next();
    const std::optional<Object> object = open(version, pass.now_ns);
    if (!object) {
      continue;
    }
    if (pass.now_ns >= due_ns(version)) {
      const std::uint64_t age_ns = pass.now_ns - version.received_ns;
      Sight sight = look_at(*object, version, age_ns);
      if (sight == Sight::aside) {
        sight = co_await look_aside(*object, version);
        pass.now_ns = runtime.now_ns();
      }
      if (sight == Sight::decided) {
        continue;
      }
      if (sight == Sight::complete) {
        keep(version, pass);
        pass.verified_bytes += object->size_bytes();
        if (CpuTime busy = background_.charged(); !busy.await_ready()) {
          co_await busy;
          pass.now_ns = runtime.now_ns();
        }
        if (pass.verified_bytes >= bytes_per_turn) {
          pass.verified_bytes = 0;
          co_await runtime.yield();
          pass.now_ns = runtime.now_ns();
        }
        continue;
      }
      if (version.whole || age_ns > patience_ns()) {
        end_waiting(*object, version);
        continue;
      }
      version.next_look_ns = pass.now_ns + std::min(age_ns, longest_look_ns);
      co_await background_.charged();
      co_await runtime.yield();
      pass.now_ns = runtime.now_ns();
    }
    pass.next_ns = std::min(pass.next_ns, due_ns(version));
    awaited.push_back(version);
  }
}

Awaited Verifier::take_next() {
  std::deque<Awaited>& awaited = catalogue_.awaited();
  const Awaited version = awaited.front();
  awaited.pop_front();
  in_hand_ = version.offset;
  if (!awaited.empty()) {
    catalogue_.log().expect(awaited.front().offset);
  }
  return version;
}

// What a request has made durable meanwhile needs nothing.
std::optional<Object> Verifier::open(const Awaited& version, std::uint64_t now_ns) {
  const Result<Object> object = catalogue_.log().find(version.offset);
  const bool is_there = object.ok() && object->sequence() == version.sequence;
  if (is_there && !object->durable() && !object->invalid()) {
    return *object;
  }
  if (is_there && object->durable()) {
    durability_ns_.record(now_ns - version.received_ns);
  }
  peers_.arrived_or_lost(version);
  return std::nullopt;
}

// A version needs nothing either when a durable one has come after it. Where a newer one is
// complete, that is made durable in its stead: under load, when the verifier falls behind, keys
// that are put often cost it one version each.
Verifier::Sight Verifier::look_at(const Object& object, Awaited& version, std::uint64_t age_ns) {
  const std::optional<Object> newer =
      verifies_newest_ ? catalogue_.newer_version(object, background_) : std::nullopt;
  if (newer && newer->durable()) {
    ++superseded_;
    peers_.arrived_or_lost(version);
    return Sight::decided;
  }
  if (newer && is_worth_a_look(*newer) && catalogue_.flush_if_complete(*newer, background_)) {
    ++superseded_;
    peers_.arrived_or_lost(version);
    version = {newer->offset(), newer->sequence(), version.received_ns};
    return Sight::complete;
  }
  if (age_ns <= patience_ns() && is_for_worker(object)) {
    return Sight::aside;
  }
  return catalogue_.flush_if_complete(object, background_) ? Sight::complete : Sight::incomplete;
}

void Verifier::keep(const Awaited& version, Pass& pass) {
  peers_.close_grant(version.offset, version.owner);
  flushed_[pass.flushed++] = version;
  ++unflagged_;
}

void Verifier::end_waiting(const Object& object, const Awaited& version) {
  if (version.whole) {
    catalogue_.note_damaged(object, background_);
  } else {
    give_up(object);
  }
  peers_.arrived_or_lost(version);
}

// What was flushed is durable after a drain, and what was given up stays so.
Task<Status> Verifier::flag(std::size_t flushed) {
  if (background_.faults().planted(faults::flag_before_drain)) {
    for (std::size_t i = 0; i < flushed; ++i) {
      catalogue_.mark_durable(catalogue_.log().at(flushed_[i].offset), background_);
    }
  }
  const Ticket ticket = background_.drain();
  co_await background_.charged();
  if (!background_.region().persistent(ticket)) {
    REMORA_CO_TRY(co_await commits_.persistent(ticket));
  }
  catalogue_.marks_persisted();
  const std::uint64_t now_ns = background_.now_ns();
  for (std::size_t i = 0; i < flushed; ++i) {
    peers_.arrived_or_lost(flushed_[i]);
    flag_one(flushed_[i], now_ns);
  }
  unflagged_ = 0;
  co_return Status();
}

// The cleaner may have ended its data pool meanwhile.
void Verifier::flag_one(const Awaited& version, std::uint64_t now_ns) {
  const Result<Object> object = catalogue_.log().find(version.offset);
  if (object.ok() && object->sequence() == version.sequence) {
    catalogue_.mark_durable(*object, background_);
    durability_ns_.record(now_ns - version.received_ns);
    ++verified_;
  }
}

std::uint64_t Verifier::patience_ns() const {
  return background_.faults().planted(faults::times_out_early) ? put_timeout_ns_ / 100
                                                               : put_timeout_ns_;
}

// The values of the latest puts are still on their way, most likely. A worker has time for all.
bool Verifier::is_worth_a_look(const Object& newer) const {
  return background_.worker() == nullptr && newer.kind() == Kind::value && !newer.invalid() &&
         newer.sequence() + on_their_way <= catalogue_.sequence();
}

// --- The worker ---

bool Verifier::is_for_worker(const Object& object) const {
  return background_.worker() != nullptr && object.value().size() >= aside_bytes;
}

// A get's request may have made it durable meanwhile.
Task<Verifier::Sight> Verifier::look_aside(const Object& object, const Awaited& version) {
  const bool complete = co_await flush_aside(object);
  if (object.durable() || object.invalid()) {
    peers_.arrived_or_lost(version);
    co_return Sight::decided;
  }
  co_return complete ? Sight::complete : Sight::incomplete;
}

// Checksum and flush on the worker's thread. Its own drain makes the lines persistent: the loop's
// would know nothing of them.
void Verifier::Look::operator()() {
  complete = object.intact_beside_writer();
  if (!complete || region.granularity() == Granularity::page) {
    return;
  }
  region.flush(object.bytes());
  if (!leaves_drain) {
    (void)region.drain();
  }
}

// What an ordinary file has to write is noted by the loop.
Task<bool> Verifier::flush_aside(Object object) {
  Look look{background_.worker_region(), object,
            background_.faults().planted(faults::worker_leaves_drain)};
  ++aside_;
  co_await background_.worker()->run(look);
  --aside_;
  ++looked_aside_;
  if (look.complete && look.region.granularity() == Granularity::page) {
    background_.flush(object.bytes());
  }
  co_return look.complete;
}

Task<void> Verifier::worker_is_idle() {
  while (aside_ != 0) {
    co_await background_.runtime().sleep_for(look_worker_ns);
  }
}

// --- Values that requests have flushed ---

// By the reply's own commit, so that there is no other.
Task<void> Verifier::flag_flushed() {
  std::deque<Flushed>& flushed = catalogue_.flushed();
  for (;;) {
    if (flushed.empty()) {
      co_await to_flag_.emplace(background_.runtime());
      continue;
    }
    const Status awaited = co_await commits_.persistent_by(flushed.front().ticket, ask_after_ns);
    if (!awaited.ok()) {
      local_.fail();
      co_return;
    }
    while (!flushed.empty() && background_.region().persistent(flushed.front().ticket)) {
      const Flushed version = flushed.front();
      flushed.pop_front();
      flag_one(version);
    }
    co_await background_.charged();
  }
}

// The cleaner may have ended its data pool meanwhile.
void Verifier::flag_one(const Flushed& version) {
  const Result<Object> object = catalogue_.log().find(version.offset);
  if (object.ok() && object->sequence() == version.sequence && !object->durable()) {
    catalogue_.mark_durable(*object, background_);
  }
  if (version.received_ns != 0) {
    durability_ns_.record(background_.now_ns() - version.received_ns);
  }
}

}  // namespace remora::kv::efactory
