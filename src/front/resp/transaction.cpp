#include "front/resp/transaction.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "front/resp/command.h"
#include "kv/limits.h"

namespace remora::resp {
namespace {

// What a watched key takes here and among the watches, beside its bytes.
constexpr std::size_t watch_bytes = 192;
// Of a key whose value is damaged: no version, and no condition of a write.
constexpr std::uint64_t damaged = std::numeric_limits<std::uint64_t>::max();

std::uint64_t version_of(kv::LocalStore& store, std::string_view key) {
  const std::optional<kv::LocalStore::Found> found = store.get(as_bytes(key));
  return !found ? 0 : found->damaged ? damaged : found->version;
}

}  // namespace

void Transaction::spoil() {
  spoiled_ = true;
  std::string().swap(bytes_);
  std::vector<std::uint32_t>().swap(sizes_);
  std::vector<Queued>().swap(queue_);
}

void Transaction::add(const Command& command, std::span<const std::string_view> args) {
  for (const std::string_view arg : args) {
    bytes_ += arg;
    sizes_.push_back(static_cast<std::uint32_t>(arg.size()));
  }
  queue_.push_back({&command, static_cast<std::uint32_t>(args.size())});
  flags_ |= command.flags;
}

const Command* Transaction::Reader::next(std::vector<std::string_view>& args) {
  if (command_ == transaction_.queue_.size()) {
    return nullptr;
  }
  const Queued& queued = transaction_.queue_[command_++];
  const std::string_view bytes = transaction_.bytes_;
  args.clear();
  for (std::uint32_t i = 0; i < queued.arguments; ++i) {
    const std::uint32_t size = transaction_.sizes_[argument_++];
    args.push_back(bytes.substr(at_, size));
    at_ += size;
  }
  return queued.command;
}

void Transaction::watch(kv::LocalStore& store, std::string_view key) {
  if (watched_.contains(key)) {
    return;
  }
  watches_.watch(key);
  watched_.emplace(key, Watched{version_of(store, key), watches_.changes(key)});
  watched_bytes_ += watch_bytes + 2 * key.size();
}

void Transaction::unwatch() {
  for (const auto& [key, was] : watched_) {
    watches_.unwatch(key);
  }
  watched_.clear();
  watched_bytes_ = 0;
}

bool Transaction::holds(kv::LocalStore& store) const {
  return std::ranges::all_of(watched_, [&](const auto& watched) {
    const auto& [key, was] = watched;
    return watches_.changes(key) == was.changes && version_of(store, key) == was.version;
  });
}

void Transaction::conditions(std::vector<kv::Condition>& list) const {
  for (const auto& [key, was] : watched_) {
    if (was.version != damaged && key.size() <= kv::limits::key_bytes) {
      list.push_back({as_bytes(key), was.version});
    }
  }
}

std::size_t Transaction::memory_bytes() const {
  return sizeof *this + bytes_.capacity() + sizes_.capacity() * sizeof sizes_[0] +
         queue_.capacity() * sizeof queue_[0] + watched_bytes_;
}

std::size_t Transaction::bytes_of(std::span<const std::string_view> args) {
  std::size_t sum = sizeof(Queued);
  for (const std::string_view arg : args) {
    sum += arg.size() + sizeof sizes_[0];
  }
  return sum;
}

}  // namespace remora::resp
