// Recovery of Erda: the two offsets of each bucket, and the checksums of what they lead to. Nothing
// else is looked at; the log is walked for its own sake, and for the newest sequence number.
#include <algorithm>

#include "kv/common/values.h"
#include "kv/erda/faults.h"
#include "kv/erda/server.h"

namespace remora::kv::erda {

Status ErdaServer::recover(Pool& pool) {
  Result<std::unique_ptr<Log>> log = Log::recover(
      host(), pool, {.engine = "erda"},
      [this](const Object& object) { sequence_ = std::max(sequence_, object.sequence()); });
  if (!log.ok()) {
    return log.status();
  }
  log_ = std::move(log).value();
  Result<std::unique_ptr<Table>> table = Table::open(host(), pool);
  if (!table.ok() && table.status().code() == Code::not_found) {
    table = Table::create(host(), pool, options().expected_keys);  // the creation was cut short
  }
  if (!table.ok()) {
    return table.status();
  }
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
  return object->intact();
}

// The newest version stays when it is whole. Else its offset is forgotten, and the one before it is
// the newest: a put that follows must not take the torn one for a version.
void ErdaServer::repair(Bucket& bucket) {
  const std::uint64_t word = bucket.versions;
  const unsigned newest = newest_of(word);
  if (whole(offset_in(word, newest), bucket.tag)) {
    return;
  }
  const Offset previous = offset_in(word, 1 - newest);
  if (!whole(previous, bucket.tag)) {
    table_->erase(bucket);
  } else if (!host().faults().planted(faults::recovery_keeps_torn)) {
    table_->set_versions(bucket, with_newest(0, 1 - newest, previous), bucket.sizes);
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
