// Recovery of eFactory as published: the hash table, and the lists of versions that it leads to.
// The log is walked for its own sake, and for the newest sequence number.
#include <algorithm>
#include <vector>

#include "kv/common/values.h"
#include "kv/rivals/efactory_published/versions.h"

namespace remora::kv::efactory_published {

Result<std::unique_ptr<Versions>> Versions::recover(const Host& host, Pool& pool,
                                                    const ServerOptions& options) {
  std::unique_ptr<Versions> versions(new Versions(host));
  REMORA_TRY_RESULT(
      log,
      Log::recover(host, pool, {.engine = "efactory-published"}, [&versions](const Object& object) {
        versions->sequence_ = std::max(versions->sequence_, object.sequence());
      }));
  versions->log_ = std::move(log).value();
  Result<std::unique_ptr<HopscotchTable>> table = HopscotchTable::open(host, pool, table_kind);
  if (!table.ok() && table.status().code() == Code::not_found) {
    // The creation was cut short.
    table = HopscotchTable::create(host, pool, table_kind, options.expected_keys);
  }
  REMORA_TRY(table.status());
  versions->table_ = std::move(table).value();
  REMORA_TRY(versions->take_entries());
  return versions;
}

// Every entry leads to one version from here on, which is persistent. Its other place goes only
// when that is so. What a cleaning that was cut short has left is freed where nothing of it is the
// newest.
Status Versions::take_entries() {
  for (Bucket& bucket : table_->all()) {
    if (bucket.tag != 0) {
      take(bucket);
    }
  }
  for (Bucket& bucket : table_->all()) {
    if (bucket.tag != 0) {
      forget_twin(bucket);
    }
  }
  REMORA_TRY(host_.region().wait(host_.drain()));
  for (Bucket& bucket : table_->all()) {
    if (bucket.tag != 0) {
      const std::uint64_t place = bucket.words[current_];
      log_->note_durable(log_->at(decode(place).offset));
      table_->set(bucket, {place});
    }
  }
  REMORA_TRY(host_.region().wait(host_.drain()));
  return log_->holds_several_pools() ? log_->keep_only(offsets()) : Status();
}

std::vector<Offset> Versions::offsets() const {
  std::vector<Offset> offsets;
  for (const Bucket& bucket : table_->all()) {
    if (bucket.tag != 0) {
      offsets.push_back(decode(bucket.words[current_]).offset);
    }
  }
  return offsets;
}

void Versions::take(Bucket& bucket) {
  std::optional<Object> newest;
  for (std::size_t which = 0; which < 2; ++which) {
    const std::optional<Object> found = newest_whole(decode(bucket.words[which]), bucket.tag);
    if (found && (!newest || found->sequence() > newest->sequence())) {
      newest = found;
    }
  }
  if (!newest) {
    table_->erase(bucket);
    return;
  }
  host_.flush(newest->bytes());
  set_place(bucket, current_, place_of(*newest));
}

std::optional<Object> Versions::newest_whole(const Place& place, Tag tag) const {
  const Result<Object> first = log_->find(place.offset);
  if (!first.ok() || table_->tag(first->key()) != tag) {
    return std::nullopt;
  }
  for (std::optional<Object> object = *first; object; object = before(*object)) {
    const bool is_taken = host_.faults().planted(faults::recovery_takes_newest) ||
                          (!object->invalid() && is_whole(*object, host_));
    if (is_taken) {
      return object;
    }
  }
  return std::nullopt;
}

// An entry that was moving to another bucket is there twice.
void Versions::forget_twin(Bucket& bucket) {
  const Object mine = newest(bucket);
  const Bucket* const twin = table_->find(bucket.tag, [&](const Bucket& other) {
    return &other != &bucket && same(newest(other).key(), mine.key());
  });
  if (twin != nullptr && newest(*twin).sequence() >= mine.sequence()) {
    table_->erase(bucket);
  }
}

}  // namespace remora::kv::efactory_published
