#include "lab/crash/pool_life.h"

#include <algorithm>

#include "pmem/version_one_testing.h"

namespace remora {
namespace {

constexpr std::size_t longest_grown_chain = 10;
// No chunk of small objects takes more than seven blocks.
constexpr std::uint64_t largest_chunk_bytes = 7 * pool_format::block_bytes;

// Mostly small, sometimes several blocks, always whole words.
std::uint64_t draw_size(Random& random, bool large) {
  const std::uint64_t die = random.between(large ? 12 : 0, 19);
  const std::uint64_t most = die < 11 ? 256 : die < 16 ? 2048 : die < 19 ? 9000 : 40000;
  return round_up(random.between(model_object_head_bytes, most), std::uint64_t{word_bytes});
}

Broken unexpected(const char* what, const Status& status) {
  return {"usable", std::string(what) + " failed: " + std::string(status.message())};
}

std::string later_states(std::size_t count) {
  return count == 0   ? std::string()
         : count == 1 ? " or the state after it"
                      : " or one of " + std::to_string(count) + " later states";
}

// What lies behind a pool that is smaller than its file is anything.
void spoil(Bytes bytes, Random& random) {
  for (std::size_t at = 0; at < bytes.size(); at += word_bytes) {
    store(bytes.data() + at, random.next());
  }
}

// Only a bug can make these fail here: the workload keeps to the limits.
void must(const Status& status) {
  REMORA_CHECK(status.ok(), "the workload broke a rule of the pool");
}

}  // namespace

PoolLife::PoolLife(SiteTable& sites, Shared& /*shared*/)
    : memory_(pool_bytes, Platform{}, Random(0), &sites) {}

void PoolLife::power_on(ConstBytes image, const Platform& platform, const Faults& faults,
                        const Expectation& expected, Random random) {
  pool_.reset();
  region_.reset();
  expected_ = expected;
  image_.assign(image.begin(), image.end());
  found_version_ = load<std::uint32_t>(image.data() + offsetof(pool_format::Header, version));
  const bool is_pool = load<std::uint64_t>(image.data()) != 0;
  if (is_pool && found_version_ == pool_format::version && random.chance(1, 4)) {
    make_version_one(image_);
    expected_.up_to_date = false;
  }
  if (!is_pool) {
    spoil(Bytes(image_).subspan(created_bytes), random);
  }
  memory_.restart(image_, platform, random.fork());
  region_.emplace(memory_);
  random_ = random.fork();
  faults_ = faults;
  creating_ = false;
  growing_to_.reset();
  pending_.clear();
  crowded_ = random_.chance(1, 3);
  tends_ = random_.chance(1, 2);
  hurries_ = random_.chance(1, 4);
  // Each life numbers its objects elsewhere: what an earlier one left behind is never mistaken for
  // an object of this one.
  next_number_ = random_.below(1'000'000) * 1000 + 1;
}

Expectation PoolLife::expectation() const {
  if (creating_) {
    return {true, false, {PoolState{}}, {created_bytes}};
  }
  if (pending_.empty()) {
    return expected_;
  }
  std::size_t newest = 0;
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    if (pending_[i].ticket && memory_.persistent(*pending_[i].ticket)) {
      newest = i;
    }
  }
  Expectation expectation;
  expectation.up_to_date = true;
  expectation.sizes.push_back(pool_->size_bytes());
  if (growing_to_) {
    expectation.sizes.push_back(*growing_to_);
  }
  for (std::size_t i = newest; i < pending_.size(); ++i) {
    expectation.states.push_back(pending_[i].state);
  }
  return expectation;
}

std::optional<Broken> PoolLife::create() {
  creating_ = true;
  Result<std::unique_ptr<Pool>> pool = Pool::create(*region_, {}, faults_, created_bytes);
  creating_ = false;
  if (!pool.ok()) {
    return unexpected("creating the pool", pool.status());
  }
  pool_ = std::move(pool).value();
  pending_.push_back({PoolState{}, Ticket{}});
  return std::nullopt;
}

std::optional<Broken> PoolLife::recover() {
  if (expected_.up_to_date && found_version_ < pool_format::version) {
    return Broken{"up to date", "a pool that was opened is of version " +
                                    std::to_string(found_version_) + " after the cut"};
  }
  Result<std::unique_ptr<Pool>> pool = Pool::open(*region_, "the pool", faults_);
  if (!pool.ok()) {
    const auto magic = load<std::uint64_t>(memory_.bytes().data());
    if (expected_.may_be_absent && magic == 0) {
      return std::nullopt;
    }
    return Broken{"opens", std::string(pool.status().message())};
  }
  if (std::ranges::find(expected_.sizes, (*pool)->size_bytes()) == expected_.sizes.end()) {
    return Broken{"grown for good", "the pool has " + std::to_string((*pool)->size_bytes()) +
                                        " bytes, expected " +
                                        std::to_string(expected_.sizes.back())};
  }
  Result<PoolState> found = read_state(**pool);
  if (!found.ok()) {
    return Broken{"whole", std::string(found.status().message())};
  }
  if (std::ranges::find(expected_.states, *found) == expected_.states.end()) {
    return Broken{"acknowledged and atomic", "found " + describe(*found) + ", expected " +
                                                 describe(expected_.states.front()) +
                                                 later_states(expected_.states.size() - 1)};
  }
  pool_ = std::move(pool).value();
  pending_.push_back({*found, Ticket{}});
  return std::nullopt;
}

std::optional<Broken> PoolLife::step() {
  const std::size_t root = random_.below(model_roots);
  switch (random_.below(hurries_ ? 7 : 12)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return add_object(root);
    case 4:
    case 5:
      return remove_objects(root);
    case 6:
      return swap_roots(root, (root + 1) % model_roots);
    case 7:
      return reserve_in_vain();
    case 8:
    case 9:
      return tends_ ? tend() : commit_something();
    case 10:
      return random_.chance(1, 3) ? restart() : commit_something();
    default:
      return random_.chance(1, 4) ? grow() : commit_something();
  }
}

// Performs a transaction that leads from now() to `after`. While it is under way, a cut may leave
// either.
std::optional<Broken> PoolLife::perform(const PoolState& after, const Transaction& transaction) {
  pending_.push_back({after, std::nullopt});
  Result<Ticket> ticket = pool_->commit(transaction);
  if (!ticket.ok()) {
    return unexpected("a transaction", ticket.status());
  }
  pending_.back().ticket = *ticket;
  return std::nullopt;
}

// Nothing when the pool is full; a pool that says so with room enough in one piece is broken.
std::optional<ModelObject> PoolLife::new_object(std::optional<Broken>& broken) {
  ModelObject object;
  object.sealed = random_.chance(1, 2);
  object.number = next_number_++ * 2 + (object.sealed ? 1 : 0);
  object.size_bytes = draw_size(random_, crowded_);
  Result<Offset> offset = pool_->reserve(object.size_bytes);
  if (!offset.ok()) {
    const bool room = pool_->usage().largest_free_bytes >= object.size_bytes + largest_chunk_bytes;
    if (offset.code() != Code::no_space || room) {
      broken = unexpected("reserving space", offset.status());
    }
    return std::nullopt;
  }
  object.offset = *offset;
  return object;
}

// A new object becomes the head of a chain, or its tail, or replaces it all.
std::optional<Broken> PoolLife::add_object(std::size_t root) {
  std::optional<Broken> broken;
  const std::optional<ModelObject> object = new_object(broken);
  if (!object) {
    return broken;
  }
  PoolState after = now();
  Chain& chain = after[root];
  Transaction transaction;
  const bool tail = !chain.empty() && chain.back().number % 2 == 0 && random_.chance(1, 3);
  const bool replace = !tail && (chain.size() >= longest_grown_chain || random_.chance(1, 4));
  Offset next = 0;
  if (tail && chain.size() < longest_grown_chain) {
    must(transaction.set(chain.back().offset, object->offset));
    chain.push_back(*object);
  } else {
    must(transaction.set_root(model_root_name(root), object->offset));
    if (replace || chain.size() >= longest_grown_chain) {
      for (const ModelObject& old : chain) {
        must(transaction.free(old.offset));
      }
      chain.clear();
    } else if (!chain.empty()) {
      next = chain.front().offset;
    }
    chain.insert(chain.begin(), *object);
  }
  fill_object(pool_->object(object->offset), *object, next);
  must(object->sealed ? transaction.publish_sealed(object->offset, object->size_bytes)
                      : transaction.publish(object->offset, object->size_bytes));
  return perform(after, transaction);
}

// The head of a chain goes, or its tail, or all of it.
std::optional<Broken> PoolLife::remove_objects(std::size_t root) {
  PoolState after = now();
  Chain& chain = after[root];
  if (chain.empty()) {
    return std::nullopt;
  }
  Transaction transaction;
  const bool tail = chain.size() > 1 && chain[chain.size() - 2].number % 2 == 0;
  if (tail && random_.chance(1, 2)) {
    must(transaction.free(chain.back().offset));
    chain.pop_back();
    must(transaction.set(chain.back().offset, 0));
  } else if (random_.chance(1, 3)) {
    for (const ModelObject& old : chain) {
      must(transaction.free(old.offset));
    }
    chain.clear();
    must(transaction.set_root(model_root_name(root), 0));
  } else {
    must(transaction.free(chain.front().offset));
    chain.erase(chain.begin());
    must(transaction.set_root(model_root_name(root), chain.empty() ? 0 : chain.front().offset));
  }
  return perform(after, transaction);
}

std::optional<Broken> PoolLife::swap_roots(std::size_t root, std::size_t other) {
  PoolState after = now();
  if (after[root].empty() || after[other].empty()) {
    return std::nullopt;
  }
  Transaction transaction;
  must(transaction.set_root(model_root_name(root), after[other].front().offset));
  must(transaction.set_root(model_root_name(other), after[root].front().offset));
  std::swap(after[root], after[other]);
  return perform(after, transaction);
}

// Space that is reserved and never published: given back, or left for recovery to find.
std::optional<Broken> PoolLife::reserve_in_vain() {
  std::optional<Broken> broken;
  const std::optional<ModelObject> object = new_object(broken);
  if (object) {
    fill_object(pool_->object(object->offset), *object, 0);
    if (random_.chance(2, 3)) {
      must(pool_->cancel(object->offset));
    }
  }
  return broken;
}

// Somebody waits, or the group commit takes one of its two steps by itself.
std::optional<Broken> PoolLife::commit_something() {
  if (memory_.platform().granularity == Granularity::page && random_.chance(1, 2)) {
    memory_.commit_running() ? memory_.finish_commit() : memory_.start_commit();
    return std::nullopt;
  }
  if (Status status = pool_->wait(*pending_.back().ticket); !status.ok()) {
    return unexpected("waiting for a transaction", status);
  }
  pending_.erase(pending_.begin(), pending_.end() - 1);
  return std::nullopt;
}

std::optional<Broken> PoolLife::tend() {
  const Result<bool> busy = pool_->tend();
  return busy.ok() ? std::nullopt : std::optional(unexpected("tending the pool", busy.status()));
}

// By all that is left of the memory, or a part.
std::optional<Broken> PoolLife::grow() {
  const std::uint64_t left = pool_bytes - pool_->size_bytes();
  if (left < pool_format::smallest_growth_bytes) {
    return std::nullopt;
  }
  const std::uint64_t more = random_.chance(1, 2) ? left : pool_format::smallest_growth_bytes;
  growing_to_ = pool_->size_bytes() + more;
  const Status status = pool_->grow(*growing_to_);
  growing_to_.reset();
  return status.ok() ? std::nullopt : std::optional(unexpected("growing the pool", status));
}

// An orderly end, and a new beginning that has nothing to recover.
std::optional<Broken> PoolLife::restart() {
  if (Status status = pool_->close(); !status.ok()) {
    return unexpected("closing the pool", status);
  }
  pending_.erase(pending_.begin(), pending_.end() - 1);
  pending_.back().ticket = Ticket{};
  Result<std::unique_ptr<Pool>> pool = Pool::open(*region_, "the pool", faults_);
  if (!pool.ok()) {
    return Broken{"opens", std::string(pool.status().message())};
  }
  if ((*pool)->replayed_records() != 0) {
    return Broken{"closed", "records are left to replay after an orderly end"};
  }
  const Result<PoolState> found = read_state(**pool);
  if (!found.ok() || *found != now()) {
    return Broken{"whole", found.ok()
                               ? "found " + describe(*found) + ", expected " + describe(now())
                               : std::string(found.status().message())};
  }
  pool_ = std::move(pool).value();
  return std::nullopt;
}

}  // namespace remora
