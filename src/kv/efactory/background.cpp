// What the server does by itself: it verifies versions, flags those that are durable, and forgets
// keys whose time has come. For cleaning and the growth of the index see cleaning.cpp.
#include <algorithm>

#include "kv/efactory/faults.h"
#include "kv/efactory/server.h"

namespace remora::kv::efactory {
namespace {

// The value comes one round trip after the reply to the request.
constexpr std::uint64_t first_look_ns = 4'000;
constexpr std::uint64_t longest_look_ns = 1'000'000;
constexpr std::uint64_t look_persistent_ns = 1'000;
// What a reply waits for is asked for by the reply, with others that wait; unless its client left.
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
constexpr std::uint64_t entries_per_expiry_pass = 256;
constexpr std::uint64_t expire_every_ns = 100'000'000;

}  // namespace

Task<Status> EfactoryServer::persistent(Ticket ticket) {
  return commits_.persistent(ticket, look_persistent_ns, look_persistent_ns);
}

// --- Verification ---

// Versions in the order of their requests: what is complete is persisted and flagged, what did not
// come in time is given up, the rest is looked at later. What the request handler has made durable
// meanwhile needs nothing, nor does what a durable version has come after, and where a newer one is
// complete, that is made durable in its stead: under load, where the verifier falls behind, keys
// that are put often cost it one version each.
Task<void> EfactoryServer::verify() {
  Runtime& runtime = background_.runtime();
  std::deque<Awaited>& awaited = catalogue_->awaited();
  std::vector<Awaited> flushed(background_.region().granularity() == Granularity::page
                                   ? versions_per_commit
                                   : versions_per_batch);
  for (;;) {
    verifying_ = true;
    std::size_t count = 0;
    std::uint64_t verified_bytes = 0;         // since the last turn
    std::uint64_t now_ns = runtime.now_ns();  // when this flow ran last
    std::uint64_t next_ns = now_ns + longest_look_ns;
    for (std::size_t left = awaited.size(); left != 0 && count < flushed.size(); --left) {
      Awaited version = awaited.front();
      awaited.pop_front();
      in_hand_ = version.offset;
      if (!awaited.empty()) {
        catalogue_->log().expect(awaited.front().offset);
      }
      const Result<Object> object = catalogue_->log().find(version.offset);
      const bool is_there = object.ok() && object->sequence() == version.sequence;
      if (!is_there || object->durable() || object->invalid()) {
        if (is_there && object->durable()) {  // a request has seen to it
          durability_ns_.record(now_ns - version.received_ns);
        }
        arrived_or_lost(version);
        continue;
      }
      const std::uint64_t age_ns = now_ns - version.received_ns;
      const std::uint64_t patience_ns = background_.faults().planted(faults::times_out_early)
                                            ? options_.put_timeout_ns / 100
                                            : options_.put_timeout_ns;
      if (now_ns >= std::max(version.next_look_ns, version.received_ns + first_look_ns)) {
        const std::optional<Object> newer = catalogue_->newer_version(*object, background_);
        if (newer && newer->durable()) {
          ++superseded_;
          arrived_or_lost(version);
          continue;
        }
        bool complete = false;
        if (newer && is_worth_a_look(*newer) &&
            catalogue_->flush_if_complete(*newer, background_)) {
          complete = true;
          ++superseded_;
          arrived_or_lost(version);
          version = {newer->offset(), newer->sequence(), version.received_ns};
        } else if (age_ns <= patience_ns && verified_aside(*object)) {
          complete = co_await flush_aside(*object);
          now_ns = runtime.now_ns();
          if (object->durable() || object->invalid()) {  // by a get's request, meanwhile
            arrived_or_lost(version);
            continue;
          }
        } else {
          complete = catalogue_->flush_if_complete(*object, background_);
        }
        if (complete) {
          if (const auto peer = peers_.find(version.owner); peer != peers_.end()) {
            peer->second.guard->close(version.offset);
          }
          flushed[count++] = version;
          ++unflagged_;
          verified_bytes += object->size_bytes();
          if (CpuTime busy = background_.settled(); !busy.await_ready()) {
            co_await busy;
            now_ns = runtime.now_ns();
          }
          if (verified_bytes >= bytes_per_turn) {
            verified_bytes = 0;
            co_await runtime.yield();
            now_ns = runtime.now_ns();
          }
          continue;
        }
        if (version.whole || age_ns > patience_ns) {
          if (version.whole) {
            catalogue_->note_damaged(*object, background_);
          } else {
            catalogue_->give_up(*object);
            ++invalidated_;
          }
          arrived_or_lost(version);
          continue;
        }
        version.next_look_ns = now_ns + std::min(age_ns, longest_look_ns);
        co_await background_.settled();
        co_await runtime.yield();
        now_ns = runtime.now_ns();
      }
      next_ns =
          std::min(next_ns, std::max(version.next_look_ns, version.received_ns + first_look_ns));
      awaited.push_back(version);
    }
    in_hand_ = 0;
    if (count != 0 || catalogue_->marks_pending()) {
      if (background_.faults().planted(faults::flag_before_drain)) {
        for (std::size_t i = 0; i < count; ++i) {
          catalogue_->mark_durable(catalogue_->log().at(flushed[i].offset), background_);
        }
      }
      const Ticket ticket = background_.drain();
      co_await background_.settled();
      if (!(co_await persistent(ticket)).ok()) {
        local_->fail();
        verifying_ = false;
        co_return;
      }
      catalogue_->marks_settled();
      now_ns = runtime.now_ns();
      for (std::size_t i = 0; i < count; ++i) {
        arrived_or_lost(flushed[i]);
        // The cleaner may have ended its data pool meanwhile.
        const Result<Object> object = catalogue_->log().find(flushed[i].offset);
        if (object.ok() && object->sequence() == flushed[i].sequence) {
          catalogue_->mark_durable(*object, background_);
          durability_ns_.record(now_ns - flushed[i].received_ns);
          ++verified_;
        }
      }
      unflagged_ = 0;
      co_await runtime.yield();
    } else if (!awaited.empty()) {
      co_await runtime.sleep_until(std::max(next_ns, runtime.now_ns() + 1));
    } else {
      verifying_ = false;
      co_await to_verify_.emplace(runtime);
    }
  }
}

// What a request has made persistent is flagged when its commit has ended: by the reply's own
// commit, so that there is no other.
Task<void> EfactoryServer::flag_flushed() {
  std::deque<Flushed>& flushed = catalogue_->flushed();
  for (;;) {
    if (flushed.empty()) {
      co_await to_flag_.emplace(background_.runtime());
      continue;
    }
    if (!(co_await commits_.persistent_by_others(flushed.front().ticket, ask_after_ns)).ok()) {
      local_->fail();
      co_return;
    }
    while (!flushed.empty() && background_.region().persistent(flushed.front().ticket)) {
      const Flushed version = flushed.front();
      flushed.pop_front();
      // The cleaner may have ended its data pool meanwhile.
      const Result<Object> object = catalogue_->log().find(version.offset);
      if (object.ok() && object->sequence() == version.sequence && !object->durable()) {
        catalogue_->mark_durable(*object, background_);
      }
      if (version.received_ns != 0) {
        durability_ns_.record(background_.now_ns() - version.received_ns);
      }
    }
    co_await background_.settled();
  }
}

// The values of the latest puts are still on their way, most likely. A worker has time for all.
bool EfactoryServer::is_worth_a_look(const Object& newer) const {
  return background_.worker() == nullptr && newer.kind() == Kind::value && !newer.invalid() &&
         newer.sequence() + on_their_way <= catalogue_->sequence();
}

bool EfactoryServer::verified_aside(const Object& object) const {
  return background_.worker() != nullptr && object.value().size() >= aside_bytes;
}

// Checksum and flush on the worker's thread. Its own drain makes the lines persistent: the loop's
// would know nothing of them.
void EfactoryServer::Look::operator()() {
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
Task<bool> EfactoryServer::flush_aside(Object object) {
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

void EfactoryServer::arrived_or_lost(const Awaited& version) {
  if (const auto peer = peers_.find(version.owner); peer != peers_.end()) {
    --peer->second.values;
    peer->second.value_bytes -= version.size_bytes;
  }
}

void EfactoryServer::wake_verifier() {
  if (to_verify_ && !to_verify_->is_set()) {
    to_verify_->set();
  }
}

void EfactoryServer::wake_flagger() {
  if (to_flag_ && !to_flag_->is_set() && !catalogue_->flushed().empty()) {
    to_flag_->set();
  }
}

void EfactoryServer::wake_background() {
  wake_verifier();
  wake_tidy();
}

void EfactoryServer::wake_tidy() {
  if (to_tidy_ && !to_tidy_->is_set() &&
      (catalogue_->index().crowded() || wants_cleaning() || forgets_grants_)) {
    to_tidy_->set();
  }
}

// --- For the local store ---

void EfactoryServer::changed(std::uint64_t size_bytes, bool expires) {
  took(size_bytes);
  wake_tidy();
  if (expires && to_expire_ && !to_expire_->is_set()) {
    to_expire_->set();
  }
}

// A pass over the index that never ends, in small steps: quick as long as many of the keys that it
// sees are to be forgotten.
Task<void> EfactoryServer::forget_expired() {
  Tag from = 0;
  bool many = false;
  int rounds = 0;  // over all of the index, until those that were deleted last have left it
  for (;;) {
    if (catalogue_->expiring() == 0 && rounds == 0) {
      co_await to_expire_.emplace(background_.runtime());
    }
    if (many) {
      co_await background_.runtime().yield();
    } else {
      co_await background_.runtime().sleep_for(expire_every_ns);
    }
    const std::uint64_t before = catalogue_->sequence();
    const Catalogue::Expiries pass = catalogue_->forget_expired(from, entries_per_expiry_pass);
    local_->deleted_since(before);
    from = pass.next;
    if (pass.forgotten != 0) {
      rounds = 3;
    } else if (from == 0 && rounds != 0) {
      --rounds;
    }
    expired_ += pass.forgotten;
    many = pass.forgotten * 4 > pass.seen;
  }
}

}  // namespace remora::kv::efactory
