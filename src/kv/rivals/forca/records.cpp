#include "kv/rivals/forca/records.h"

#include <algorithm>
#include <cstring>

#include "kv/rivals/forca/faults.h"

namespace remora::kv::forca {
namespace {

// A chunk has a small part of the pool, so that a small pool has room for objects.
constexpr std::uint64_t smallest_chunk_bytes = 16 << 10;
constexpr std::uint64_t largest_chunk_bytes = 1 << 20;
constexpr std::uint64_t chunks_in_pool = 64;

bool is_free(const Record& record) {
  return std::ranges::all_of(object_bytes(record),
                             [](std::byte byte) { return byte == std::byte{0}; });
}

}  // namespace

Result<std::unique_ptr<Records>> Records::create(const Host& host, Pool& pool) {
  std::unique_ptr<Records> records(new Records(host, pool));
  REMORA_TRY(records->add_chunk());
  return records;
}

Result<std::unique_ptr<Records>> Records::open(const Host& host, Pool& pool) {
  REMORA_TRY_RESULT(first, pool.root(root_name));
  std::unique_ptr<Records> records(new Records(host, pool));
  for (Offset chunk = *first; chunk != 0;) {
    REMORA_TRY(records->take_chunk(chunk));
    chunk = pool.load(chunk + offsetof(ChunkHead, next));
  }
  return records;
}

// Records go on behind the last place that is not free, whatever is there.
Status Records::take_chunk(Offset offset) {
  const auto seen = [offset](const Chunk& chunk) { return chunk.offset == offset; };
  ChunkHead head;
  if (!pool_.is_live(offset) || std::ranges::any_of(chunks_, seen) ||
      (std::memcpy(&head, pool_.object(offset).data(), sizeof head), head.magic != chunk_magic) ||
      head.version != 1) {
    return Status(Code::damaged,
                  "the metadata records of the store are damaged; restore the pool from a backup");
  }
  Chunk chunk{offset, pool_.object(offset).size() / sizeof(Record) - 1, 0};
  chunk.used = chunk.capacity;
  while (chunk.used > 0 && is_free(at(place(chunk, chunk.used - 1)))) {
    --chunk.used;
  }
  chunks_.push_back(chunk);
  return {};
}

Status Records::add_chunk() {
  const std::uint64_t wanted =
      std::clamp(round_down(pool_.region().size() / chunks_in_pool, std::uint64_t{page_bytes}),
                 smallest_chunk_bytes, largest_chunk_bytes);
  REMORA_TRY_RESULT(offset, pool_.reserve(wanted, Account::store));
  const Bytes bytes = pool_.object(*offset);
  std::ranges::fill(bytes, std::byte{0});
  const ChunkHead head{chunk_magic, 1, 0, {}};
  std::memcpy(bytes.data(), &head, sizeof head);
  Transaction transaction;
  REMORA_TRY(transaction.publish(*offset, bytes.size()));
  REMORA_TRY(chunks_.empty()
                 ? transaction.set_root(root_name, *offset)
                 : transaction.set(chunks_.back().offset + offsetof(ChunkHead, next), *offset));
  const Result<Ticket> ticket = pool_.commit(transaction);
  REMORA_TRY(ticket.ok() ? pool_.wait(*ticket) : ticket.status());
  chunks_.push_back({*offset, bytes.size() / sizeof(Record) - 1, 0});
  return {};
}

Result<Offset> Records::append(const Record& record, Site site) {
  host_.charge(Work::allocate);
  if (chunks_.back().used == chunks_.back().capacity) {
    REMORA_TRY(add_chunk());
  }
  Chunk& chunk = chunks_.back();
  const Offset offset = place(chunk, chunk.used++);
  Record whole = record;
  whole.checksum = checksum_of(whole);
  std::byte* const at = pool_.region().data() + offset;
  std::memcpy(at, &whole, sizeof whole);
  if (!host_.faults().planted(faults::record_not_persisted)) {
    host_.flush(ConstBytes(at, sizeof whole), site);
  }
  return offset;
}

}  // namespace remora::kv::forca
