#include "kv/rivals/efactory_published/versions.h"

#include "kv/common/values.h"

namespace remora::kv::efactory_published {

Result<std::unique_ptr<Versions>> Versions::create(const Host& host, Pool& pool,
                                                   const ServerOptions& options) {
  std::unique_ptr<Versions> versions(new Versions(host));
  REMORA_TRY_RESULT(
      log, Log::create(host, pool,
                       {.engine = "efactory-published", .segment_bytes = options.segment_bytes}));
  versions->log_ = std::move(log).value();
  REMORA_TRY_RESULT(table, HopscotchTable::create(host, pool, table_kind, options.expected_keys));
  versions->table_ = std::move(table).value();
  return versions;
}

// --- Lists ---

// Tags may be shared: the key in an object decides.
Bucket* Versions::find(ConstBytes key) const {
  return table_->find(table_->tag(key),
                      [&](const Bucket& bucket) { return same(newest(bucket).key(), key); });
}

Object Versions::newest(const Bucket& bucket) const {
  const Offset a = decode(bucket.words[0]).offset;
  const Offset b = decode(bucket.words[1]).offset;
  if (a == 0 || b == 0) {
    return log_->at(a == 0 ? b : a);
  }
  const std::uint64_t sequence_a = log_->at(a).sequence();
  const std::uint64_t sequence_b = log_->at(b).sequence();
  const bool is_copied = sequence_a == sequence_b;
  return log_->at((is_copied ? next() == 1 : sequence_b > sequence_a) ? b : a);
}

void Versions::set_place(Bucket& bucket, std::size_t which, const Place& place) {
  EntryWords words = bucket.words;
  words[which] = encode(place);
  table_->set(bucket, words);
}

std::optional<Object> Versions::at_link(const Object& from, Link link) const {
  if (link.offset == 0) {
    return std::nullopt;
  }
  const Result<Object> object = log_->find(link.offset);
  if (!object.ok() || !same(object->key(), from.key())) {
    return std::nullopt;
  }
  return *object;
}

std::optional<Object> Versions::before(const Object& object) const {
  const std::optional<Object> found = at_link(object, object.previous());
  return found && found->sequence() < object.sequence() ? found : std::nullopt;
}

std::optional<Object> Versions::after(const Object& object) const {
  const std::optional<Object> found = at_link(object, object.next());
  return found && found->sequence() > object.sequence() ? found : std::nullopt;
}

bool Versions::is_whole(const Object& object, const Host& host) {
  host.charge_crc(object.value().size());
  return object.intact();
}

Ticket Versions::persist(const Object& object, const Host& host) {
  return host.persist(object.bytes());
}

bool Versions::has_left(Offset offset, std::uint64_t sequence) const {
  bool is_there = false;
  log_->for_each_extent([&](const Segment& segment) {
    is_there = is_there ||
               (offset % object_format::alignment_bytes == 0 && offset >= segment.offset &&
                !log_->has(segment) &&
                within(offset - segment.offset, sizeof(object_format::Header), segment.used_bytes));
  });
  return is_there && log_->at(offset).sequence() == sequence && !log_->at(offset).invalid();
}

// --- Put, del, get ---

// One drain covers header and entry; the paper gives no order between them.
Result<Object> Versions::put(ConstBytes key, std::uint32_t value_bytes, std::uint32_t client_sum) {
  Bucket* const bucket = find(key);
  Link previous;
  if (bucket != nullptr && !host_.faults().planted(faults::forgets_previous)) {
    const Offset offset = newest(*bucket).offset();
    const bool is_moved = stage_ != Stage::none && decode(bucket->words[next()]).offset == offset;
    previous = {.offset = offset, .transferred = is_moved};
  }
  REMORA_TRY_RESULT(
      placed, log_->append({.key = key,
                            .value_bytes = value_bytes,
                            .checksum = object_format::object_checksum(sequence_ + 1, client_sum),
                            .sequence = sequence_ + 1,
                            .previous = previous},
                           goes_to_new_pool() ? DataPool::next : DataPool::current));
  ++sequence_;
  const Object object = log_->at(placed->offset);
  if (previous.offset != 0) {
    log_->set_next(log_->at(previous.offset), {.offset = object.offset()});
  }
  REMORA_TRY(index(key, bucket, place_of(object)));
  return object;
}

Status Versions::index(ConstBytes key, Bucket* bucket, const Place& place) {
  const std::size_t which = goes_to_new_pool() ? next() : current_;
  EntryWords words = {};
  if (bucket != nullptr) {
    words = bucket->words;
  }
  words[which] = encode(place);
  if (bucket == nullptr) {
    words[mark_word] = stage_ == Stage::end ? next() : current_;
    return table_->insert(table_->tag(key), words);
  }
  table_->set(*bucket, words);
  return {};
}

Ticket Versions::del(ConstBytes key) {
  if (Bucket* const bucket = find(key); bucket != nullptr) {
    table_->erase(*bucket);
    last_del_ = host_.faults().planted(faults::del_not_persisted) ? Ticket{} : host_.drain();
  }
  return last_del_;
}

// Where there are two places, that in the new data pool is the one: as published, also while puts
// go to the old one.
Versions::Found Versions::get(ConstBytes key) {
  const Faults& planted = host_.faults();
  const Bucket* const bucket = find(key);
  if (bucket == nullptr) {
    return {.ticket = last_del_};
  }
  const bool is_moved = stage_ != Stage::none && bucket->words[next()] != 0;
  const Offset first = decode(bucket->words[is_moved ? next() : current_]).offset;
  if (first == 0) {
    return {.ticket = last_del_};
  }
  for (std::optional<Object> object = log_->at(first); object; object = before(*object)) {
    if (object->durable()) {
      return {.object = object};
    }
    const bool is_taken = !object->invalid() &&
                          (planted.planted(faults::get_skips_checksum) || is_whole(*object, host_));
    if (is_taken) {
      const Ticket ticket =
          planted.planted(faults::get_skips_persist) ? Ticket{} : persist(*object, host_);
      if (host_.region().persistent(ticket)) {
        log_->note_durable(*object);
      }
      return {.object = object, .ticket = ticket};
    }
  }
  return {.ticket = last_del_};
}

}  // namespace remora::kv::efactory_published
