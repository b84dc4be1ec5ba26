#include "kv/common/inventory.h"

#include <algorithm>
#include <utility>

#include "kv/common/values.h"

namespace remora::kv {

Inventory::Inventory(const Host& host, const ServerOptions& options, const InventoryFaults& faults)
    : host_(host), faults_(faults) {
  const IndexGeometry geometry{host.runtime().random().next(), windows_for(options.expected_keys)};
  memory_ = IndexMemory::make(geometry);
  index_ = std::make_unique<Index>(geometry, memory_.bytes);
}

Result<std::unique_ptr<Inventory>> Inventory::start(const Host& host, Pool& pool,
                                                    const ServerOptions& options,
                                                    std::string_view engine,
                                                    const InventoryFaults& faults) {
  std::unique_ptr<Inventory> inventory(new Inventory(host, options, faults));
  std::vector<Offset> found;
  Result<std::unique_ptr<Log>> log =
      options.create
          ? Log::create(host, pool, {.engine = engine, .segment_bytes = options.segment_bytes})
          : Log::recover(host, pool, {.engine = engine},
                         [&](const Object& object) { found.push_back(object.offset()); });
  REMORA_TRY(log.status());
  inventory->log_ = std::move(log).value();
  inventory->take_recovered(found);
  return inventory;
}

// --- Recovery ---

// The flag is all that is looked at. A tombstone is whole with its header, which the log has
// checked; what it hides needs nothing, since no version from before comes any more.
void Inventory::take_recovered(const std::vector<Offset>& found) {
  const Faults& planted = host_.faults();
  const bool takes_unflagged = faults_.recovery_takes_unflagged != nullptr &&
                               planted.planted(*faults_.recovery_takes_unflagged);
  for (const Offset offset : found) {
    const Object object = log_->at(offset);
    sequence_ = std::max(sequence_, object.sequence());
    if (planted.planted(faults_.recovery_takes_first) && find(object.key())) {
      continue;
    }
    if (object.kind() == Kind::tombstone || object.durable() || takes_unflagged) {
      publish(object);
    }
  }
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
      index_->clear(slot);
      index_->release(slot);
    }
  } while (from != 0);
}

// --- The index ---

IndexSlot Inventory::slot_of(Tag tag, ConstBytes key) const {
  host_.charge(Work::index);
  return index_->find(tag, [&](const IndexSlot& slot) { return same(newest(slot).key(), key); });
}

void Inventory::publish(const Object& object) {
  const Tag tag = index_->tag(object.key());
  const IndexSlot slot = slot_of(tag, object.key());
  const std::uint64_t place = encode(
      {object.offset(), object.size_bytes(), object.durable(), object.kind() == Kind::tombstone});
  if (!slot) {
    if (index_->crowded()) {
      grow();
    }
    index_->insert(tag, 0, place);
  } else if (newest(slot).sequence() <= object.sequence()) {
    index_->set_place(slot, 0, place);
  }
}

void Inventory::grow() {
  IndexMemory next = IndexMemory::make(index_->grown());
  index_->begin_resize(index_->grown(), next.bytes);
  while (!index_->resize(1024)) {
  }
  index_->end_resize();
  host_.charge_copy(next.bytes.size());
  memory_.retire();
  retired_.push_back(std::exchange(memory_, std::move(next)));
  ++generation_;
}

// --- Versions ---

Result<Object> Inventory::append(ConstBytes key, std::uint32_t value_bytes, std::uint64_t flags) {
  REMORA_TRY_RESULT(
      placed,
      log_->append(
          {.key = key, .value_bytes = value_bytes, .sequence = sequence_ + 1, .flags = flags}));
  ++sequence_;
  return log_->at(placed->offset);
}

Result<Ticket> Inventory::del(ConstBytes key) {
  if (!find(key)) {
    return last_del_;
  }
  REMORA_TRY_RESULT(placed, log_->append({.key = key,
                                          .kind = Kind::tombstone,
                                          .sequence = sequence_ + 1,
                                          .flags = object_format::durable_flag},
                                         DataPool::current, Reserve::may_use));
  ++sequence_;
  last_del_ = host_.faults().planted(faults_.del_not_persisted) ? Ticket{} : log_->seal();
  publish(log_->at(placed->offset));
  return last_del_;
}

std::optional<Object> Inventory::find(ConstBytes key) const {
  const IndexSlot slot = slot_of(index_->tag(key), key);
  if (!slot || slot.place(0).deleted) {
    return std::nullopt;
  }
  return newest(slot);
}

Result<Object> Inventory::find(Offset offset, std::uint64_t sequence) const {
  Result<Object> object = log_->find(offset);
  if (object.ok() && (object->sequence() != sequence || object->kind() != Kind::value)) {
    return Status(Code::not_found, "there is no such version");
  }
  return object;
}

std::size_t Inventory::scan(const ScanRequest& ask, Bytes body) const {
  return pack_scan(ask, body, [this](Tag from, const auto& visit) {
    return index_->scan(from, 1, [&](const IndexSlot& slot) {
      if (!slot.place(0).deleted) {
        visit(slot.tag(), newest(slot).key());
      }
    });
  });
}

}  // namespace remora::kv
