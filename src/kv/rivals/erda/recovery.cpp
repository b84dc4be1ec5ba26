// Recovery of Erda: the two offsets of each bucket, and the checksums of what they lead to. Nothing
// else is looked at; the log is walked for its own sake, and for the newest sequence number.
#include <algorithm>

#include "kv/common/values.h"
#include "kv/rivals/erda/faults.h"
#include "kv/rivals/erda/server.h"

namespace remora::kv::erda {

Status ErdaServer::recover(Pool& pool) {
  Result<std::unique_ptr<Log>> log = Log::recover(
      host(), pool, {.engine = "erda"},
      [this](const Object& object) { sequence_ = std::max(sequence_, object.sequence()); });
  REMORA_TRY(log.status());
  log_ = std::move(log).value();
  Result<std::unique_ptr<HopscotchTable>> table =
      HopscotchTable::open(host(), pool, faults::table_kind);
  if (!table.ok() && table.status().code() == Code::not_found) {
    // The creation was cut short.
    table = HopscotchTable::create(host(), pool, faults::table_kind, options().expected_keys);
  }
  REMORA_TRY(table.status());
  table_ = std::move(table).value();
  for (Bucket& bucket : table_->all()) {
    if (bucket.tag != 0) {
      repair(bucket);
    }
  }
  for (Bucket& bucket : table_->all()) {
    if (bucket.tag != 0) {
      forget_twin(bucket);
    }
  }
  return host().region().wait(host().drain());
}

bool ErdaServer::whole(Offset offset, Tag tag) const {
  const Result<Object> object = log_->find(offset);
  if (!object.ok() || object->kind() != Kind::value || table_->tag(object->key()) != tag) {
    return false;
  }
  host().charge_crc(object->value().size());
  return is_intact(*object);
}

// The newest version stays when it is whole. Else its offset is forgotten, and the one before it is
// the newest: a put that follows must not take the torn one for a version.
void ErdaServer::repair(Bucket& bucket) {
  const std::uint64_t word = bucket.words[region_word];
  const unsigned newest = newest_of(word);
  if (whole(offset_in(word, newest), bucket.tag)) {
    return;
  }
  const Offset previous = offset_in(word, 1 - newest);
  if (!whole(previous, bucket.tag)) {
    table_->erase(bucket);
  } else if (!host().faults().planted(faults::recovery_keeps_torn)) {
    table_->set(bucket, {with_newest(0, 1 - newest, previous), bucket.words[sizes_word]});
  }
}

// An entry that was moving is there twice.
void ErdaServer::forget_twin(Bucket& bucket) {
  const Object mine = newest(bucket);
  const Bucket* twin = table_->find(bucket.tag, [&](const Bucket& other) {
    return &other != &bucket && same(newest(other).key(), mine.key());
  });
  if (twin != nullptr && newest(*twin).sequence() >= mine.sequence()) {
    table_->erase(bucket);
  }
}

}  // namespace remora::kv::erda
