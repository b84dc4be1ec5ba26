// Recovery of Forca: the records, the newest first; for each key the first whose object is whole
// counts, and what is older is its past.
#include <algorithm>
#include <vector>

#include "kv/rivals/forca/faults.h"
#include "kv/rivals/forca/server.h"

namespace remora::kv::forca {

Status ForcaServer::recover(Pool& pool) {
  Result<std::unique_ptr<Log>> log = Log::recover(
      host(), pool, {.engine = "forca"},
      [this](const Object& object) { sequence_ = std::max(sequence_, object.sequence()); });
  REMORA_TRY(log.status());
  log_ = std::move(log).value();
  Result<std::unique_ptr<Records>> records = Records::open(host(), pool);
  if (!records.ok() && records.status().code() == Code::not_found) {
    records = Records::create(host(), pool);  // the creation was cut short
  }
  REMORA_TRY(records.status());
  records_ = std::move(records).value();
  records_->visit_backwards([this](Offset offset, const Record& record) {
    sequence_ = std::max(sequence_, record.sequence);
    take_recovered(offset);
  });
  forget_tombstones();
  return {};
}

// A record may lead to an object whose header a cut has taken: then its put was never granted.
void ForcaServer::take_recovered(Offset offset) {
  const Record& record = records_->at(offset);
  const Result<Object> object = log_->find(record.object);
  if (!object.ok() || object->sequence() != record.sequence ||
      object->value().size() != record.value_bytes) {
    return;
  }
  const Tag tag = index_->tag(object->key());
  const IndexSlot slot = find(tag, object->key());
  if (slot && !host().faults().planted(faults::recovery_takes_oldest)) {
    return;
  }
  if (whole(record)) {
    lead_to(tag, slot, offset, object->kind() == Kind::tombstone);
  }
}

void ForcaServer::forget_tombstones() {
  std::vector<IndexSlot> gone;
  Tag from = 0;
  do {
    gone.clear();
    from = index_->scan(from, 1024, [&](const IndexSlot& slot) {
      if (slot.place(0).deleted) {
        gone.push_back(slot);
      }
    });
    for (const IndexSlot slot : gone) {
      release(slot);
    }
  } while (from != 0);
}

}  // namespace remora::kv::forca
