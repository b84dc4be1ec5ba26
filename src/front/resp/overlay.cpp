#include "front/resp/overlay.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "kv/limits.h"

namespace remora::resp {
namespace {

// Versions of what is written here, apart from all below.
constexpr std::uint64_t own_versions = std::uint64_t{1} << 63;

// Hands keys of the store below on, but for those that are deleted here.
class Shown final : public kv::ScanSink {
 public:
  Shown(kv::ScanSink& sink, std::function<bool(std::string_view)> is_deleted)
      : sink_(sink), is_deleted_(std::move(is_deleted)) {}
  void key(ConstBytes key) override {
    if (!is_deleted_(as_text(key))) {
      sink_.key(key);
    }
  }

 private:
  kv::ScanSink& sink_;
  const std::function<bool(std::string_view)> is_deleted_;
};

}  // namespace

bool Overlay::is_stable(std::string_view text) const {
  return std::greater_equal<>()(text.data(), stable_.data()) &&
         std::less_equal<>()(text.data() + text.size(), stable_.data() + stable_.size());
}

bool Overlay::is_shown(const Entry& entry) const {
  return entry.there && (entry.expires == 0 || entry.expires > now_ms_);
}

Overlay::Entry* Overlay::find(std::string_view key) {
  if (entries_.size() <= few) {
    for (Entry& entry : entries_) {
      if (entry.key() == key) {
        return &entry;
      }
    }
    return nullptr;
  }
  const auto [first, last] = places_.equal_range(std::hash<std::string_view>()(key));
  for (auto at = first; at != last; ++at) {
    if (Entry& entry = entries_[at->second]; entry.key() == key) {
      return &entry;
    }
  }
  return nullptr;
}

Overlay::Entry& Overlay::entry_of(std::string_view key) {
  if (Entry* const known = find(key)) {
    return *known;
  }
  Entry& entry = entries_.emplace_back();
  if (is_stable(key)) {
    entry.lent_key = key;
  } else {
    entry.own_key = key;
  }
  if (entries_.size() > few) {
    for (std::size_t at = places_.size(); at < entries_.size(); ++at) {
      places_.emplace(std::hash<std::string_view>()(entries_[at].key()), at);
    }
  }
  return entry;
}

std::optional<kv::LocalStore::Found> Overlay::get(ConstBytes key) {
  if (const Entry* const known = find(as_text(key)); known != nullptr && known->written) {
    return is_shown(*known)
               ? std::optional(Found{as_bytes(known->value()), known->expires, known->version})
               : std::nullopt;
  }
  const std::optional<Found> found = below_.get(key);
  const bool is_possible = !key.empty() && key.size() <= kv::limits::key_bytes;
  if (is_possible &&
      (!found || !found->damaged)) {  // what a write is to mend is none of its conditions
    const std::uint64_t version = found ? found->version : 0;
    Entry& entry = entry_of(as_text(key));
    torn_ |= entry.was && *entry.was != version;
    entry.was = version;
  }
  return found;
}

// As the store below would say.
Status Overlay::check(ConstBytes key, std::size_t value_bytes) const {
  if (key.empty() || key.size() > kv::limits::key_bytes || value_bytes > kv::limits::value_bytes) {
    return Status(Code::invalid_argument, "a key or a value is too long");
  }
  const Status failure = below_.failure();
  return failure.ok() ? below_.changeable() : failure;
}

Result<kv::LocalStore::Mark> Overlay::put(ConstBytes key, std::span<const ConstBytes> value,
                                          Expiry expires) {
  std::size_t size = 0;
  for (const ConstBytes piece : value) {
    size += piece.size();
  }
  REMORA_TRY(check(key, size));
  // The pieces may lie in an entry, which moves when another one comes.
  std::string own;
  std::string_view lent;
  const bool lends = value.size() == 1 && is_stable(as_text(value[0]));
  if (lends) {
    lent = as_text(value[0]);
  } else {
    own.reserve(size);
    for (const ConstBytes piece : value) {
      own += as_text(piece);
    }
  }
  Entry& entry = entry_of(as_text(key));
  bytes_ += own.size() - entry.own_value.size();
  too_much_ |= bytes_ > most_bytes_;
  entry.own_value = too_much_ ? std::string() : std::move(own);
  entry.lent_value = lent;
  entry.owns_value = !lends;
  entry.written = true;
  entry.there = true;
  has_written_ = true;
  entry.expires = expires;
  entry.version = own_versions | ++last_version_;
  if (too_much_) {
    bytes_ = 0;
    return Status(Code::invalid_argument, "the values that it writes are too many bytes");
  }
  return now();
}

Result<kv::LocalStore::Mark> Overlay::del(ConstBytes key) {
  REMORA_TRY(check(key, 0));
  Entry& entry = entry_of(as_text(key));
  bytes_ -= entry.own_value.size();
  std::string().swap(entry.own_value);
  entry.written = true;
  entry.there = false;
  has_written_ = true;
  return now();
}

Result<kv::LocalStore::Mark> Overlay::write_all(std::span<const Write> writes, std::size_t& made) {
  for (const Write& each : writes.subspan(made)) {
    REMORA_TRY(check(each.key, each.value ? each.value->size() : 0));
  }
  for (; made < writes.size(); ++made) {
    const Write& next = writes[made];
    REMORA_TRY(
        (next.value ? put(next.key, std::span(&*next.value, 1), next.expires) : del(next.key))
            .status());
  }
  return below_.now();
}

Result<kv::LocalStore::Mark> Overlay::write_together(const kv::MultiWrite& what) {
  for (const kv::Condition& condition : what.conditions) {
    const std::optional<Found> found = get(condition.key);
    if (found && found->damaged) {
      return Status(Code::damaged, "the value of a key is damaged");
    }
    if ((found ? found->version : 0) != condition.version) {
      return Status(Code::conflict, "a key is not what it was");
    }
  }
  std::size_t made = 0;
  return write_all(what.writes, made);
}

Result<kv::LocalStore::Mark> Overlay::commit(std::vector<kv::Condition> conditions) {
  if (too_much_) {
    return Status(Code::invalid_argument, "the values that it writes are too many bytes");
  }
  std::vector<Write> writes;
  writes.reserve(entries_.size());
  for (const Entry& entry : entries_) {
    const bool is_nothing = entry.written && !entry.there && entry.was == 0;
    if (entry.written && !is_nothing) {
      writes.push_back({as_bytes(entry.key()),
                        entry.there ? std::optional(as_bytes(entry.value())) : std::nullopt,
                        entry.there ? entry.expires : 0});
    }
    if (entry.was) {
      conditions.push_back({as_bytes(entry.key()), *entry.was});
    }
  }
  if (torn_) {
    return Status(Code::conflict, "a key changed while it was read");
  }
  if (writes.empty()) {
    return still_holds(conditions) ? Result<Mark>(below_.now())
                                   : Status(Code::conflict, "a key changed while others were read");
  }
  if (writes.size() == 1 && conditions.empty()) {
    const Write& write = writes[0];
    return write.value ? below_.put(write.key, std::span(&*write.value, 1), write.expires)
                       : below_.del(write.key);
  }
  return below_.write_together({conditions, writes});
}

// What was read of one key alone was so at the moment when it was read.
bool Overlay::still_holds(std::span<const kv::Condition> conditions) {
  return conditions.size() < 2 ||
         std::ranges::all_of(conditions, [this](const kv::Condition& condition) {
           const std::optional<Found> found = below_.get(condition.key);
           return (found ? found->version : 0) == condition.version;
         });
}

void Overlay::each_written(const std::function<void(ConstBytes key)>& visit) const {
  for (const Entry& entry : entries_) {
    if (entry.written) {
      visit(as_bytes(entry.key()));
    }
  }
}

// --- All keys ---

// Whether there is such a key in the store below.
bool Overlay::is_below(const Entry& entry) const {
  return entry.was ? *entry.was != 0 : below_.get(as_bytes(entry.key())).has_value();
}

kv::ScanCursor Overlay::scan(kv::ScanCursor from, std::size_t most_keys, kv::ScanSink& sink) {
  for (const Entry& entry : entries_) {
    if (from == 0 && entry.written && is_shown(entry) && !is_below(entry)) {
      sink.key(as_bytes(entry.key()));
    }
  }
  Shown shown(sink, [this](std::string_view key) {
    const Entry* const entry = find(key);
    return entry != nullptr && entry->written && !is_shown(*entry);
  });
  return below_.scan(from, most_keys, shown);
}

std::uint64_t Overlay::keys() const {
  std::uint64_t count = below_.keys();
  for (const Entry& entry : entries_) {
    if (entry.written) {
      count += std::uint64_t{is_shown(entry)};
      count -= std::uint64_t{is_below(entry)};
    }
  }
  return count;
}

std::uint64_t Overlay::keys_with_expiry() const {
  std::uint64_t count = below_.keys_with_expiry();
  for (const Entry& entry : entries_) {
    if (entry.written) {
      const std::optional<Found> found = below_.get(as_bytes(entry.key()));
      count += std::uint64_t{is_shown(entry) && entry.expires != 0};
      count -= std::uint64_t{found && found->expires != 0};
    }
  }
  return count;
}

}  // namespace remora::resp
