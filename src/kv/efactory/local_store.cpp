#include "kv/efactory/local_store.h"

#include <algorithm>
#include <utility>

#include "kv/efactory/catalogue_shown.h"
#include "kv/efactory/cleaning_room.h"
#include "kv/efactory/faults.h"

namespace remora::kv::efactory {
namespace {

constexpr std::uint64_t first_commit_look_ns = 5'000;
constexpr std::uint64_t longest_commit_look_ns = 100'000;
constexpr std::size_t flags_per_turn = 64;
// How long changes wait that are in a hurry: others may share their commit.
constexpr std::uint64_t hurried_ns = 1'000'000;

Status to_be_cleaned() {
  return Status(Code::no_space, "the log must be cleaned first");
}

}  // namespace

EfactoryLocal::EfactoryLocal(Catalogue& catalogue, Surroundings& around, Committer& commits,
                             std::uint64_t commit_ns)
    : catalogue_(catalogue),
      around_(around),
      commits_(commits),
      background_(catalogue.background()),
      commit_ns_(commit_ns),
      by_commit_(catalogue.host().region().granularity() == Granularity::page),
      last_(catalogue.sequence()),
      persistent_(catalogue.sequence()),
      due_(background_.runtime()) {}

bool EfactoryLocal::is_known(Mark mark) const {
  return std::ranges::binary_search(pending_, mark, {}, &Change::mark) ||
         std::ranges::binary_search(batch_, mark, {}, &Change::mark);
}

std::optional<LocalStore::Found> EfactoryLocal::get(ConstBytes key) {
  ++uses_;
  const std::uint64_t before = catalogue_.sequence();
  const auto [object, is_damaged] =
      catalogue_.shown(key, [this](std::uint64_t sequence) { return is_known(sequence); });
  if (!catalogue_.flushed().empty()) [[unlikely]] {
    around_.flushed();
  }
  if (is_damaged) [[unlikely]] {
    return object ? Found{{}, object->expires(), object->sequence(), true} : Found{{}, 0, 0, true};
  }
  if (!object) {
    deleted_since(before);
    return std::nullopt;
  }
  if (is_verified(verify_reads_, object->value().size(), verified_bytes_) && !passes(*object))
      [[unlikely]] {
    return Found{{}, object->expires(), object->sequence(), true};
  }
  return Found{object->value(), object->expires(), object->sequence()};
}

// One that does not is damaged from now on.
bool EfactoryLocal::passes(const Object& object) {
  catalogue_.host().charge_crc(object.value().size());
  if (object.intact()) {
    return true;
  }
  catalogue_.verify_newest(object.key());
  return false;
}

Result<LocalStore::Mark> EfactoryLocal::put(ConstBytes key, std::span<const ConstBytes> value,
                                            Expiry expires) {
  ++uses_;
  if (has_failed_) [[unlikely]] {
    return failed();
  }
  std::uint64_t value_bytes = 0;
  for (const ConstBytes piece : value) {
    value_bytes += piece.size();
  }
  const std::uint64_t size_bytes = object_format::size_bytes(key.size(), value_bytes);
  if (!around_.admits(size_bytes)) [[unlikely]] {
    return to_be_cleaned();
  }
  return put_admitted(key, value, expires, size_bytes);
}

Result<LocalStore::Mark> EfactoryLocal::put_admitted(ConstBytes key,
                                                     std::span<const ConstBytes> value,
                                                     Expiry expires, std::uint64_t size_bytes) {
  const Result<Catalogue::Written> written = catalogue_.put_here(key, value, expires);
  if (!written.ok()) [[unlikely]] {
    return written.status();
  }
  last_ = written->sequence;
  wait_for_commit({written->offset, last_, written->entry});
  around_.changed(size_bytes, expires != 0);
  return last_;
}

Result<LocalStore::Mark> EfactoryLocal::del(ConstBytes key) {
  ++uses_;
  if (has_failed_) [[unlikely]] {
    return failed();
  }
  const std::uint64_t before = catalogue_.sequence();
  REMORA_TRY_RESULT(ticket, catalogue_.del(key));
  deleted_since(before);
  return last_;
}

Result<LocalStore::Mark> EfactoryLocal::clear() {
  ++uses_;
  if (has_failed_) [[unlikely]] {
    return failed();
  }
  REMORA_TRY(changeable());
  const Faults& planted = catalogue_.host().faults();
  if (!around_.may_clear() && !planted.planted(faults::clear_under_readers)) {
    return Status(Code::in_use, "native clients must follow before all keys can go; try again");
  }
  const std::uint64_t before = catalogue_.sequence();
  Catalogue::Table old;
  REMORA_TRY(catalogue_.clear(old).status());
  around_.cleared(std::move(old));
  deleted_since(before);
  return last_;
}

void EfactoryLocal::deleted_since(std::uint64_t sequence) {
  if (catalogue_.sequence() != sequence) {
    last_ = catalogue_.sequence();
    wait_for_commit({0, last_});
    around_.changed(0, false);
  }
}

// Room for all of them is as that for one: a deletion may fall back on space that is kept for it.
Status EfactoryLocal::admit(std::span<const Write> writes) const {
  std::vector<std::uint64_t> sizes_bytes;
  sizes_bytes.reserve(writes.size());
  std::uint64_t sum_bytes = 0;
  for (const Write& each : writes) {
    const std::uint64_t value_bytes = each.value ? each.value->size() : 0;
    REMORA_TRY(Catalogue::check_sizes(each.key, value_bytes));
    sizes_bytes.push_back(object_format::size_bytes(each.key.size(), value_bytes));
    sum_bytes += sizes_bytes.back();
  }
  const std::optional<std::uint64_t> opened_bytes = catalogue_.space_for(sizes_bytes);
  if (!opened_bytes || !around_.admits(std::max(sum_bytes, *opened_bytes))) {
    return to_be_cleaned();
  }
  return Status();
}

Result<LocalStore::Mark> EfactoryLocal::write_all(std::span<const Write> writes,
                                                  std::size_t& made) {
  ++uses_;
  if (has_failed_) [[unlikely]] {
    return failed();
  }
  REMORA_TRY(admit(writes.subspan(made)));
  for (; made < writes.size(); ++made) {
    const Write& next = writes[made];
    if (!next.value) {
      REMORA_TRY(del(next.key).status());
      continue;
    }
    const std::uint64_t size_bytes = object_format::size_bytes(next.key.size(), next.value->size());
    REMORA_TRY(
        put_admitted(next.key, std::span(&*next.value, 1), next.expires, size_bytes).status());
  }
  return last_;
}

Result<LocalStore::Mark> EfactoryLocal::write_together(const MultiWrite& what) {
  ++uses_;
  if (has_failed_) [[unlikely]] {
    return failed();
  }
  const Result<Catalogue::Together> plan = catalogue_.plan(what);
  if (!catalogue_.flushed().empty()) [[unlikely]] {
    around_.flushed();
  }
  REMORA_TRY(plan.status());
  if (plan->needed_bytes != 0 && !around_.admits(plan->needed_bytes)) {
    return to_be_cleaned();
  }
  REMORA_TRY_RESULT(written, catalogue_.write(*plan));
  for (std::size_t i = 0; i < written->size(); ++i) {
    const Write& one = *plan->writes[i];
    last_ = (*written)[i].sequence;
    wait_for_commit({(*written)[i].offset, last_, (*written)[i].entry});
    around_.changed(one.value ? object_format::size_bytes(one.key.size(), one.value->size()) : 0,
                    one.value && one.expires != 0);
  }
  return last_;
}

ScanCursor EfactoryLocal::scan(ScanCursor from, std::size_t most_keys, ScanSink& sink) {
  return catalogue_.scan_shown(
      from, most_keys, [this](std::uint64_t sequence) { return is_known(sequence); },
      [&sink](Tag, ConstBytes key) { sink.key(key); });
}

// --- Durability ---

Status EfactoryLocal::failed() const {
  Status why = background_.region().failure();
  if (why.ok()) {
    why = Status(Code::io_error, "the pool's file cannot be written; nothing more is kept");
  }
  return why;
}

void EfactoryLocal::fail() {
  if (!std::exchange(has_failed_, true)) {
    wake_waiting();
  }
}

// What is not durable now never will be.
bool EfactoryLocal::is_in_doubt(ConstBytes key) {
  return lost() || !background_.region().persistent(catalogue_.get(key).ticket);
}

void EfactoryLocal::wait_for_commit(const Change& change) {
  if (pending_.empty()) {
    since_ns_ = background_.now_ns();
  }
  pending_.push_back(change);
  if (!by_commit_) {
    if (!drain_.armed()) {
      background_.runtime().run_soon(drain_);
    }
  } else if (to_commit_ && !to_commit_->is_set()) {
    to_commit_->set();
  }
}

void EfactoryLocal::mark_durable(const Change& change) {
  // The cleaner may have ended its data pool meanwhile.
  const Result<Object> object = catalogue_.log().find(change.offset);
  if (object.ok() && object->sequence() == change.mark && !object->durable()) {
    catalogue_.mark_durable(*object, catalogue_.background(), change.entry);
  }
}

void EfactoryLocal::commit_at_once() {
  if (!background_.region().persistent(catalogue_.host().drain())) [[unlikely]] {
    fail();
    return;
  }
  persistent_ = last_;
  if (!pending_.empty()) {
    around_.persisted_after(background_.now_ns() - std::exchange(since_ns_, 0));
  }
  for (const Change& change : pending_) {
    if (change.offset != 0) {
      mark_durable(change);
    }
  }
  pending_.clear();
}

Task<Status> EfactoryLocal::persistent(Mark mark) {
  if (!by_commit_ && persistent_ < mark) {
    commit_at_once();
  }
  while (persistent_ < mark) {
    if (has_failed_) {
      co_return failed();
    }
    REMORA_CO_TRY(background_.region().failure());
    const Mark under_way = committing_ && !batch_.empty() ? batch_.back().mark : persistent_;
    if (std::min(mark, last_) > under_way) {
      due_.needed();
    }
    Event event(background_.runtime());
    waiting_.push_back(&event);
    co_await event;
  }
  co_return Status();
}

bool EfactoryLocal::made_persistent(Mark mark) {
  if (!by_commit_ && persistent_ < mark) {
    commit_at_once();
  }
  return persistent_ >= mark || background_.faults().planted(faults::deletion_overtakes);
}

// What blocks here instead of in another thread saves that thread's way to the core and back.
std::optional<Status> EfactoryLocal::persistent_at_once() {
  if (has_failed_) [[unlikely]] {
    return failed();
  }
  if (!by_commit_ || committing_ || !commits_.may_stand_still(*this)) {
    return std::nullopt;
  }
  if (pending_.empty()) {
    return Status();
  }
  flag_batch();
  take_pending();
  const Status status = background_.region().wait(background_.drain());
  if (status.ok()) {
    persistent_ = batch_.back().mark;
    around_.persisted_after(background_.now_ns() - batch_since_ns_);
    background_.runtime().run_soon(drain_);  // who waits is answered before
    wake_waiting();
  } else {
    fail();
  }
  return status;
}

void EfactoryLocal::take_pending() {
  std::swap(batch_, pending_);
  batch_since_ns_ = std::exchange(since_ns_, 0);
  hurried_ = false;
}

bool EfactoryLocal::all_wait() {
  const bool is_unused = uses_ == std::exchange(seen_uses_, uses_);
  return is_unused && !busy();
}

// A commit that is under way may take longer: those that follow it are planned when it has ended.
void EfactoryLocal::hurry() {
  if (!std::exchange(hurried_, true) && !committing_) {
    due_.needed_by(background_.runtime().after(pause_ns()));
  }
}

std::uint64_t EfactoryLocal::pause_ns() const {
  return hurried_ ? std::min(commit_ns_, hurried_ns) : commit_ns_;
}

void EfactoryLocal::flag_batch() {
  for (const Change& change : batch_) {
    if (change.mark <= persistent_) {  // else its commit has failed
      mark_durable(change);
    }
  }
  batch_.clear();
}

void EfactoryLocal::wake_waiting() {
  for (Event* event : std::exchange(waiting_, {})) {
    event->set();
  }
}

Task<void> EfactoryLocal::commit() {
  Runtime& runtime = background_.runtime();
  for (;;) {
    if (pending_.empty()) {
      co_await to_commit_.emplace(runtime);
    }
    co_await due_.come(runtime.after(pause_ns()));
    if (pending_.empty()) {
      continue;  // they were made persistent meanwhile
    }
    flag_batch();
    committing_ = true;
    take_pending();
    const Mark mark = batch_.back().mark;
    const Ticket ticket = background_.drain();
    if (!(co_await commits_.persistent(ticket, {first_commit_look_ns, longest_commit_look_ns}))
             .ok()) {
      fail();
      co_return;
    }
    persistent_ = mark;
    around_.persisted_after(background_.now_ns() - batch_since_ns_);
    wake_waiting();
    for (std::size_t i = 0; i < batch_.size(); ++i) {
      mark_durable(batch_[i]);
      if (i % flags_per_turn == flags_per_turn - 1) {
        co_await runtime.yield();
      }
    }
    batch_.clear();
    committing_ = false;
  }
}

LocalStore::Tally EfactoryLocal::tally() const {
  return {.live_bytes = catalogue_.live_bytes(),
          .usable_bytes = usable_bytes(catalogue_.log()),
          .index_bytes = catalogue_.index_bytes(),
          .expired_keys = around_.expired_keys()};
}

}  // namespace remora::kv::efactory
