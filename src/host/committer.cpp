#include "host/committer.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace remora {

Committer::Party::~Party() {
  if (committer_ != nullptr) {
    committer_->leave(*this);
  }
}

Committer::Committer(Runtime& runtime, Region& region, Listens listens)
    : runtime_(runtime),
      region_(region),
      is_told_(listens == Listens::yes && region.on_commit([this] { tell(); })) {
  if (is_told_) {
    runtime.add_poller(*this);
  }
}

Committer::~Committer() {
  if (is_told_) {
    region_.on_commit(nullptr);
  }
  for (Party* party : parties_) {
    party->committer_ = nullptr;
  }
}

// --- Flows ---

Task<Status> Committer::persistent(Ticket ticket, Looks looks) {
  if (!region_.persistent(ticket)) {
    region_.request(ticket);
  }
  while (!region_.persistent(ticket)) {
    REMORA_CO_TRY(region_.failure());
    if (is_told_) {
      Event event(runtime_);
      waiting_.push_back(&event);
      co_await event;
    } else {
      co_await runtime_.sleep_for(looks.first_ns);
      looks.first_ns = std::min(2 * looks.first_ns, looks.longest_ns);
    }
  }
  co_return Status();
}

Task<Status> Committer::persistent_by(Ticket ticket, std::uint64_t patience_ns) {
  const std::uint64_t due_ns = runtime_.after(patience_ns);
  while (is_told_ && !region_.persistent(ticket) && runtime_.now_ns() < due_ns) {
    REMORA_CO_TRY(region_.failure());
    wake_at(due_ns);
    Event event(runtime_);
    waiting_.push_back(&event);
    co_await event;
  }
  co_return co_await persistent(ticket);
}

void Committer::wake_at(std::uint64_t due_ns) {
  if (!alarm_.armed() || due_ns < alarm_ns_) {
    alarm_ns_ = due_ns;
    runtime_.arm(alarm_, due_ns);
  }
}

void Committer::wake_all() {
  for (Event* event : std::exchange(waiting_, {})) {
    event->set();
  }
}

void Committer::tell() {
  ended_.store(true, std::memory_order_release);
  runtime_.wake();
}

bool Committer::poll() {
  if (!has_news() || !ended_.exchange(false, std::memory_order_acq_rel)) [[likely]] {
    return false;
  }
  wake_all();
  return true;
}

// --- Replies ---

void Committer::join(Party& party) {
  REMORA_CHECK(party.committer_ == nullptr, "the party has a committer already");
  party.committer_ = this;
  parties_.push_back(&party);
}

void Committer::leave(Party& party) {
  std::erase(parties_, &party);
}

bool Committer::expect(Ticket ticket) {
  if (!is_told_) {
    region_.request(ticket);
  }
  return is_told_;
}

bool Committer::turn_ends(Party& party, const Replies& replies) {
  if (!is_told_) {
    return false;
  }
  if (stood_still_ns_ != 0) {
    loop_commits_.looked(was_noticed_, std::exchange(stood_still_ns_, 0));
  }
  party.waiting_ = replies.waiting;
  if (replies.answered != 0) {
    party.gather_.ended(replies.answered, replies.waiting, runtime_.now_ns());
  }
  newest_.commit = std::max(newest_.commit, replies.newest.commit);
  return replies.waiting != 0 && begin_if_time();
}

// While a commit is under way, what replies wait for is the next.
bool Committer::begin_if_time() {
  if (is_under_way()) {
    return false;
  }
  const std::uint64_t now_ns = runtime_.now_ns();
  if (const std::uint64_t due = due_ns(now_ns); due != 0) {
    if (!kick_.armed()) {
      runtime_.arm(kick_, due);
    }
    return false;
  }
  for (Party* party : parties_) {
    if (party->waiting_ != 0) {
      party->gather_.began(now_ns);
    }
  }
  if (all_others_wait(nullptr) && loop_commits_.is_next()) {
    stand_still(now_ns);
  } else {
    kick_.disarm();
    asked_ = newest_;
    region_.request(asked_);
  }
  return true;
}

std::uint64_t Committer::due_ns(std::uint64_t now_ns) const {
  std::uint64_t due_ns = 0;
  for (const Party* party : parties_) {
    if (party->waiting_ != 0 && !party->gather_.is_time(party->waiting_, now_ns)) {
      due_ns = std::max(due_ns, party->gather_.latest_ns());
    }
  }
  return due_ns;
}

bool Committer::all_others_wait(const Party* asker) {
  return std::ranges::all_of(parties_,
                             [asker](Party* party) { return party == asker || party->all_wait(); });
}

void Committer::stand_still(std::uint64_t now_ns) {
  was_noticed_ = false;
  (void)region_.wait(newest_);  // the region remembers a failure
  stood_still_ns_ = std::max<std::uint64_t>(runtime_.now_ns() - now_ns, 1);
  runtime_.run_soon(kick_);
}

}  // namespace remora
