// Several keys at once. All versions are appended before the first of them is led to, so nobody
// sees a part; none of them is called durable before all are persistent, so whoever READs the index
// meanwhile asks, and is answered when all are led to. What a cut leaves of them is recovery's
// affair (kv/log/kept_prefix.h).
#include <algorithm>
#include <numeric>
#include <vector>

#include "kv/common/values.h"
#include "kv/efactory/catalogue.h"
#include "kv/efactory/faults.h"

namespace remora::kv::efactory {
namespace {

bool less(ConstBytes a, ConstBytes b) {
  return std::ranges::lexicographical_compare(a, b);
}

// Few keys are compared with each other; many are put in order.
bool stands_twice(std::span<const Write> writes) {
  constexpr std::size_t few = 16;
  if (writes.size() <= few) {
    for (std::size_t i = 1; i < writes.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (std::ranges::equal(writes[i].key, writes[j].key)) {
          return true;
        }
      }
    }
    return false;
  }
  std::vector<ConstBytes> keys(writes.size());
  std::ranges::transform(writes, keys.begin(), &Write::key);
  std::ranges::sort(keys, less);
  return std::ranges::adjacent_find(keys, [](ConstBytes a, ConstBytes b) {
           return std::ranges::equal(a, b);
         }) != keys.end();
}

std::uint32_t value_bytes_of(const Write& write) {
  return write.value ? static_cast<std::uint32_t>(write.value->size()) : 0;
}

std::uint64_t size_of(const Write& write) {
  return object_format::size_bytes(write.key.size(), value_bytes_of(write));
}

}  // namespace

Result<std::uint64_t> Catalogue::version_of(ConstBytes key) {
  const IndexSlot slot = find_or_unreadable(index_->tag(key), key, host_);
  if (!slot) {
    return std::uint64_t{0};
  }
  const Status damaged(Code::damaged, "a key that a condition names is damaged");
  if (has_unreadable_ && ends_unreadable(newest(slot))) [[unlikely]] {
    return damaged;
  }
  const bool heeds_time = !host_.faults().planted(faults::together_heeds_no_time);
  for (std::optional<Object> version = newest(slot); version; version = before(*version)) {
    if (version->kind() == Kind::tombstone) {
      break;
    }
    if (is_suspect(slot, *version)) [[unlikely]] {
      const Found found = get_suspect(slot, *version);
      return found.damaged  ? Result<std::uint64_t>(damaged)
             : found.object ? Result<std::uint64_t>(version->sequence())
                            : Result<std::uint64_t>(0);
    }
    if (!version->durable() && is_given_up(*version, host_)) {
      continue;
    }
    if (!version->durable() && !complete(*version, host_)) {
      return Status(Code::in_use, "the value of a key that a condition names is on its way");
    }
    return heeds_time && expired(*version) ? 0 : version->sequence();
  }
  return std::uint64_t{0};
}

Result<Catalogue::Together> Catalogue::plan(const MultiWrite& what) {
  for (const Write& write : what.writes) {
    REMORA_TRY(check_sizes(write.key, write.value ? write.value->size() : 0));
  }
  for (const Condition& condition : what.conditions) {
    REMORA_TRY(check_sizes(condition.key, 0));
  }
  if (stands_twice(what.writes)) {
    return Status(Code::invalid_argument, "a key stands twice in one write");
  }
  REMORA_TRY(log_->changeable());
  for (const Condition& condition : what.conditions) {
    REMORA_TRY_RESULT(version, version_of(condition.key));
    if (*version != condition.version) {
      return Status(Code::conflict, "a key has another version than the condition says");
    }
  }
  Together plan;
  plan.writes.reserve(what.writes.size());
  std::vector<std::uint64_t> sizes_bytes;
  sizes_bytes.reserve(what.writes.size());
  bool has_values = false;
  for (const Write& write : what.writes) {
    if (!write.value) {
      const IndexSlot slot = find_or_unreadable(index_->tag(write.key), write.key, host_);
      if (!slot || (!is_unreadable(slot) && newest(slot).kind() == Kind::tombstone)) {
        continue;  // a key that is not there needs no tombstone
      }
    }
    has_values = has_values || write.value.has_value();
    plan.writes.push_back(&write);
    sizes_bytes.push_back(size_of(write));
  }
  plan.reserve = has_values ? Reserve::keep : Reserve::may_use_half;
  if (has_values) {
    const std::optional<std::uint64_t> opened_bytes = space_for(sizes_bytes);
    if (!opened_bytes) {
      return Status(Code::no_space, "the store has no room for all of it");
    }
    const std::uint64_t sum_bytes =
        std::accumulate(sizes_bytes.begin(), sizes_bytes.end(), std::uint64_t{0});
    plan.needed_bytes = std::max(sum_bytes, *opened_bytes);
  }
  return plan;
}

// Deletions go where bury() has them.
Result<std::vector<Catalogue::Written>> Catalogue::write(const Together& what) {
  const DataPool to_bury =
      log_->cleaning() && goes_ == Goes::whole && !host_.faults().planted(faults::del_in_old_pool)
          ? DataPool::next
          : target_;
  const auto pool_of = [&](const Write& one) { return one.value ? target_ : to_bury; };
  for (const DataPool pool : {DataPool::current, DataPool::next}) {
    std::vector<std::uint64_t> sizes_bytes;
    for (const Write* const one : what.writes) {
      if (pool_of(*one) == pool) {
        sizes_bytes.push_back(size_of(*one));
      }
    }
    const Status status =
        sizes_bytes.empty() ? Status() : log_->prepare(sizes_bytes, pool, what.reserve);
    if (!status.ok()) {
      log_->drop_prepared(DataPool::current);
      return status;
    }
  }
  struct Member {
    Tag tag = 0;
    IndexSlot slot;
    Place place;
  };
  std::vector<Member> members(what.writes.size());
  const std::uint64_t found_in = index_->generation();
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Write& one = *what.writes[i];
    Member& member = members[i];
    member.tag = index_->tag(one.key);
    member.slot = find_or_unreadable(member.tag, one.key, host_);
    member.place = append_member(one, member.slot, i + 1 < members.size(), pool_of(one));
  }
  std::vector<Written> written;
  written.reserve(members.size());
  const std::uint64_t first = sequence_ - members.size() + 1;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Write& one = *what.writes[i];
    Member& member = members[i];
    if (index_->generation() != found_in) {
      member.slot = find_or_unreadable(member.tag, one.key, host_);
    }
    const std::size_t which = pool_of(one) == target_ ? which_ : next_mark();
    const bool early = i == 0 && host_.faults().planted(faults::together_durable_early);
    if (early && one.value) {
      log_->note_durable(log_->at(member.place.offset));
      member.place.durable = true;
    }
    const IndexSlot entry = lead_to(member.tag, member.slot, which, member.place);
    if (member.place.expires) {
      note_time(member.tag, one.expires, first + i);
    }
    written.push_back(
        {one.value ? member.place.offset : 0, first + i, {entry, index_->generation()}});
  }
  if (std::ranges::any_of(members, [](const Member& member) { return member.place.deleted; })) {
    last_del_ = seal_tombstone();
  }
  return written;
}

Place Catalogue::append_member(const Write& one, IndexSlot slot, bool more, DataPool pool) {
  const Faults& planted = host_.faults();
  const ConstBytes value = one.value.value_or(ConstBytes());
  const std::uint64_t expires =
      one.value && !planted.planted(faults::together_forgets_time) ? one.expires : 0;
  host_.charge_crc(value.size());
  host_.charge_copy(value.size());
  const Result<Placed> placed =
      log_->append({.key = one.key,
                    .value_bytes = static_cast<std::uint32_t>(value.size()),
                    .kind = one.value ? Kind::value : Kind::tombstone,
                    .checksum = object_format::object_checksum(
                        sequence_ + 1, object_format::client_checksum(one.key, value), expires),
                    .sequence = sequence_ + 1,
                    .previous = {slot ? newest(slot).offset() : 0, false},
                    .more = more && !planted.planted(faults::together_forgets_more),
                    .expires = expires,
                    .content = std::span(&value, 1)},
                   pool);
  REMORA_CHECK(placed.ok(), "room was prepared for all of it");
  ++sequence_;
  return {.offset = placed->offset,
          .size_bytes = placed->size_bytes,
          .durable = !one.value,
          .deleted = !one.value,
          .expires = expires != 0};
}

}  // namespace remora::kv::efactory
