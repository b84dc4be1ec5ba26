#include "lab/subjects/log/log_life.h"

#include <algorithm>

#include "kv/log/log_upgrade_testing.h"

namespace remora {

using kv::DataPool;
using kv::Link;
using kv::Log;
using kv::LogOptions;
using kv::Reserve;
namespace object_format = kv::object_format;

namespace {

const LogOptions options = {"sim", 0};

Broken unexpected(const char* what, const Status& status) {
  return {"usable", std::string(what) + " failed: " + std::string(status.message())};
}

// What a word may be after a cut: its newest persistent value, or any that came later.
template <typename T>
std::vector<T> candidates(const ChangingWord<T>& word, const CrashMemory& memory) {
  std::size_t newest = 0;
  bool certain = false;
  for (std::size_t i = 0; i < word.changes.size(); ++i) {
    if (word.changes[i].ticket && memory.persistent(*word.changes[i].ticket)) {
      newest = i;
      certain = true;
    }
  }
  std::vector<T> values;
  if (!certain) {
    values.push_back(T{});  // the word did not arrive with the rest of its header
  }
  for (std::size_t i = newest; i < word.changes.size(); ++i) {
    values.push_back(word.changes[i].value);
  }
  return values;
}

}  // namespace

LogLife::LogLife(SiteTable& sites, Shared& shared)
    : shared_(shared), memory_(pool_bytes, Platform{}, Random(0), &sites) {}

void LogLife::power_on(ConstBytes image, const Platform& platform, const Faults& faults,
                       const ExpectedLog& expected, Random random) {
  log_.reset();
  pool_.reset();
  region_.reset();
  memory_.restart(image, platform, random.fork());
  region_.emplace(memory_);
  loop_ = std::make_unique<VirtualLoop>();
  random_ = random.fork();
  faults_ = faults;
  expected_ = expected;
  last_ = Ticket{};
  noted_.reset();
  pools_.clear();
  current_ = nullptr;
  next_ = nullptr;
}

ExpectedObject LogLife::expected(const LoggedObject& object) const {
  return ExpectedObject{object.number,
                        object.kind,
                        persistent(object.appended),
                        object.filled && persistent(object.valued),
                        candidates(object.flags, memory_),
                        candidates(object.previous, memory_),
                        candidates(object.next, memory_)};
}

ExpectedLog LogLife::expectation() const {
  if (log_ == nullptr) {
    return expected_;
  }
  ExpectedLog expectation;
  for (const ModelPool& pool : pools_) {
    if (pool.ending && persistent(pool.ended)) {
      continue;
    }
    ExpectedPool& group = expectation.pools.emplace_back();
    group.may_be_gone = pool.ending;
    for (const LoggedObject& object : pool.objects) {
      group.objects.push_back(expected(object));
    }
  }
  return expectation;
}

std::optional<Broken> LogLife::create() {
  expected_ = ExpectedLog{true, {}};
  Result<std::unique_ptr<Pool>> pool = Pool::create(*region_, {});
  if (!pool.ok()) {
    return unexpected("creating the pool", pool.status());
  }
  pool_ = std::move(pool).value();
  const Host host(*loop_, device_, &*region_, faults_);
  Result<std::unique_ptr<Log>> log = Log::create(host, *pool_, options);
  if (!log.ok()) {
    return unexpected("creating the log", log.status());
  }
  current_ = &pools_.emplace_back();
  log_ = std::move(log).value();
  return std::nullopt;
}

std::optional<Broken> LogLife::recover() {
  Result<std::unique_ptr<Pool>> pool = Pool::open(*region_, "the pool");
  if (!pool.ok()) {
    return expected_.may_be_absent ? std::optional<Broken>()
                                   : unexpected("opening the pool", pool.status());
  }
  pool_ = std::move(pool).value();
  const Host host(*loop_, device_, &*region_, faults_);
  std::vector<FoundObject> found;
  Result<std::unique_ptr<Log>> log = Log::recover(
      host, *pool_, options,
      [&found](const kv::Object& object) { found.push_back(FoundObject::of(object)); });
  if (!log.ok()) {
    return expected_.may_be_absent && log.code() == Code::not_found
               ? std::optional<Broken>()
               : unexpected("recovering the log", log.status());
  }
  if (auto wrong = contradiction(expected_, found)) {
    return wrong;
  }
  current_ = &pools_.emplace_back();
  for (const FoundObject& object : found) {
    current_->objects.push_back(object.as_logged());
  }
  log_ = std::move(log).value();
  const std::uint64_t segments = pool_->usage().object_count - 1;
  if (segments != log_->usage().segments) {
    return Broken{"leaks nothing", "the pool has " + std::to_string(segments) +
                                       " segments, the log " +
                                       std::to_string(log_->usage().segments)};
  }
  for (const FoundObject& object : found) {
    if (log_->is_before_mark(object.offset) && !object.intact && object.flags == 0) {
      return Broken{"marks", "object " + std::to_string(object.number) +
                                 " lies before the mark, and nobody decided on it"};
    }
  }
  return random_.chance(1, 8) ? damage_something(found) : std::nullopt;
}

// On another machine, which begins with what this one shows now.
std::optional<Broken> LogLife::damage_something(const std::vector<FoundObject>& found) {
  std::vector<FoundObject> before;
  std::ranges::copy_if(found, std::back_inserter(before), [this](const FoundObject& object) {
    return log_->is_before_mark(object.offset);
  });
  return damage_.try_one(memory_.visible(), memory_.platform(), faults_, found, before,
                         *pool_->root(kv::store_format::root_name), random_.fork());
}

std::optional<Broken> LogLife::step() {
  switch (random_.below(21)) {
    case 16:
    case 17:
    case 18:
    case 19:
      return move_marks();
    case 20:
      return random_.chance(1, 3) ? downgrade() : move_marks();
    case 0:
    case 1:
    case 2:
      return clean();
    case 3:
    case 4:
      return change_word();
    case 5:
    case 6:
      return commit_something();
    case 7:
    case 8:
      seal();
      return std::nullopt;
    default:
      return append();
  }
}

// The object is in the model before the log hears of it: a cut in between may leave it.
std::optional<Broken> LogLife::append() {
  const bool to_next = next_ != nullptr && random_.chance(1, 2);
  ModelPool& pool = to_next ? *next_ : *current_;
  const LoggedObject* const before = any_object();
  const Link link{before == nullptr ? 0 : before->offset, random_.chance(1, 4)};
  LoggedObject& object =
      pool.objects.emplace_back(LoggedObject::fresh(shared_.next_number++, random_, link));
  const std::string key = object.key();
  const std::vector<std::byte> value = object.value();
  Result<kv::Placed> placed =
      log_->append(object.as_new(key, value), to_next ? DataPool::next : DataPool::current,
                   random_.chance(1, 4) ? Reserve::may_use : Reserve::keep);
  if (!placed.ok()) {
    pool.objects.pop_back();
    return placed.code() == Code::no_space ? std::optional<Broken>()
                                           : unexpected("an append", placed.status());
  }
  object.offset = placed->offset;
  if (random_.chance(3, 4)) {
    std::ranges::copy(value, placed->value.begin());
    region_->flush(placed->value);
    object.filled = true;
  }
  if (random_.chance(1, 3)) {
    seal();
  }
  return std::nullopt;
}

LoggedObject* LogLife::any_object() {
  ModelPool& pool = next_ != nullptr && random_.chance(1, 2) ? *next_ : *current_;
  if (pool.objects.empty()) {
    return nullptr;
  }
  auto at = pool.objects.begin();
  std::advance(at, static_cast<std::ptrdiff_t>(random_.below(pool.objects.size())));
  return &*at;
}

// Durable is said only of a value that is persistent.
std::optional<Broken> LogLife::change_word() {
  LoggedObject* const object = any_object();
  if (object == nullptr) {
    return std::nullopt;
  }
  const kv::Object view = log_->at(object->offset);
  const std::uint64_t flags = object->flags.changes.back().value;
  const Link link{random_.below(1000) * 64, random_.chance(1, 2)};
  switch (random_.below(4)) {
    case 0:
      if (object->filled && persistent(object->appended) && persistent(object->valued)) {
        object->flags.changes.push_back({flags | object_format::durable_flag, std::nullopt});
        log_->set_durable(view);
      }
      break;
    case 1:
      object->flags.changes.push_back({flags | object_format::invalid_flag, std::nullopt});
      log_->set_invalid(view);
      break;
    case 2:
      object->previous.changes.push_back({link, std::nullopt});
      log_->set_previous(view, link);
      break;
    default:
      object->next.changes.push_back({link, std::nullopt});
      log_->set_next(view, link);
  }
  return std::nullopt;
}

std::optional<Broken> LogLife::clean() {
  if (next_ != nullptr) {
    return end_old_pool();
  }
  if (random_.chance(1, 2)) {
    Result<std::size_t> left = log_->free_dead(random_.below(12));
    return left.ok() ? std::optional<Broken>() : unexpected("freeing segments", left.status());
  }
  log_->begin_new_pool();
  next_ = &pools_.emplace_back();
  return std::nullopt;
}

std::optional<Broken> LogLife::end_old_pool() {
  if (random_.chance(1, 4)) {
    log_->keep_both_pools();
    next_->objects.splice(next_->objects.end(), current_->objects);
    current_ = next_;
    next_ = nullptr;
    return std::nullopt;
  }
  ModelPool& old = *current_;
  old.ending = true;
  Result<Ticket> ticket = log_->end_old_pool();
  if (!ticket.ok()) {
    return unexpected("ending a data pool", ticket.status());
  }
  old.ended = last_ = *ticket;
  current_ = next_;
  next_ = nullptr;
  return std::nullopt;
}

template <typename Visit>
void LogLife::for_each_ticket(const Visit& visit) {
  for (ModelPool& pool : pools_) {
    for (LoggedObject& object : pool.objects) {
      visit(object.appended);
      if (object.filled) {
        visit(object.valued);
      }
      for (auto& change : object.flags.changes) {
        visit(change.ticket);
      }
      // Links are flushed with the header that they come with, and never again.
      visit(object.previous.changes.front().ticket);
      visit(object.next.changes.front().ticket);
    }
  }
}

void LogLife::seal() {
  last_ = log_->seal();
  for_each_ticket([this](std::optional<Ticket>& ticket) {
    if (!ticket) {
      ticket = last_;
    }
  });
}

// Decided is what has its value, or a flag that says what became of it: all of that is flushed.
std::optional<Broken> LogLife::move_marks() {
  if (noted_ && persistent(noted_)) {
    const Result<Ticket> moved = log_->move_marks(1 + random_.below(3));
    if (!moved.ok()) {
      return unexpected("moving the marks", moved.status());
    }
    last_ = *moved;
    noted_.reset();
    return std::nullopt;
  }
  std::vector<Offset> undecided;
  for (const ModelPool& pool : pools_) {
    for (const LoggedObject& object : pool.objects) {
      const bool is_decided = object.filled || object.kind == kv::Kind::tombstone ||
                              object.flags.changes.back().value != 0;
      if (!is_decided) {
        undecided.push_back(object.offset);
      }
    }
  }
  std::vector<kv::Segment> segments;
  log_->list(DataPool::current, segments);
  if (!segments.empty()) {  // what recovery found came from the medium
    log_->note_decided(segments[random_.below(segments.size())].number);
  }
  if (log_->note_bounds(undecided)) {
    seal();
    noted_ = last_;
  }
  return std::nullopt;
}

std::optional<Broken> LogLife::downgrade() {
  seal();
  Status status = pool_->wait(last_);
  if (!status.ok()) {
    return unexpected("waiting", status);
  }
  expected_ = expectation();
  log_.reset();
  status = kv::begin_downgrade(*pool_);
  status = status.ok() ? kv::rewrite_states(*pool_) : status;
  return status.ok() ? std::optional<Broken>() : unexpected("a step back", status);
}

// Somebody waits, or the group commit takes one of its two steps by itself.
std::optional<Broken> LogLife::commit_something() {
  if (memory_.platform().granularity == Granularity::page && random_.chance(1, 2)) {
    memory_.commit_running() ? memory_.finish_commit() : memory_.start_commit();
    return std::nullopt;
  }
  const Status status = pool_->wait(last_);
  return status.ok() ? std::optional<Broken>() : unexpected("waiting", status);
}

}  // namespace remora
