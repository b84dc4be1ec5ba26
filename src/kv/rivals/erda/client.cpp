#include "kv/rivals/erda/client.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "kv/common/values.h"
#include "kv/common/wire.h"
#include "kv/rivals/erda/faults.h"
#include "kv/rivals/erda/messages.h"
#include "kv/rivals/erda/region_format.h"

namespace remora::kv::erda {
namespace {

// How often a get looks at a key none of whose versions is whole; each pause is twice the one
// before.
constexpr int most_looks = 12;
constexpr std::uint64_t first_pause_ns = 1'000;

// What the header says that the object takes; 0 when it cannot be one.
std::uint64_t size_by_header(ConstBytes bytes) {
  object_format::Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  return object_format::plausible(header, object_format::largest_bytes)
             ? object_format::size_bytes(header.key_bytes, header.value_bytes)
             : 0;
}

}  // namespace

// --- Put ---

// The header travels with the value, in one WRITE.
Task<Status> ErdaClient::put(ConstBytes key, ConstBytes value, PutOptions options) {
  REMORA_CO_TRY(check_put(key, value));
  const std::size_t size = sizeof(ObjectHead) + value.size();
  if (size > buffers().largest_bytes()) {
    co_return Status(Code::invalid_argument, "the value is larger than the client's buffers");
  }
  const Credit credit = co_await enter();
  const Buffer buffer = co_await buffers().take(size);
  host().charge_copy(value.size());
  copy_bytes(buffer.bytes().data() + sizeof(ObjectHead), value);
  rpc::CallSlot slot = co_await caller().slot();
  REMORA_CO_TRY_RESULT(granted, co_await ask_for_space(slot, key, value, 0));
  host().charge_crc(value.size());
  write_struct(buffer.bytes(), head_of(key, value, granted->sequence));
  if (!reaches(granted->value_offset, size)) {
    REMORA_CO_TRY(co_await reach(granted->value_offset, size, &slot));
  }
  REMORA_CO_TRY(co_await write(buffer, size, in_pool(granted->value_offset)));
  if (options.durability == Durability::persistent) {
    co_return co_await persist(slot, *granted);
  }
  co_return Status();
}

// --- Get ---

Task<Result<std::size_t>> ErdaClient::get(ConstBytes key, Bytes value) {
  REMORA_CO_TRY(check_sizes(key, {}));
  const Credit credit = co_await enter();
  for (int looks = 0; looks < most_looks; ++looks) {
    Result<Outcome> outcome = co_await look(key, value);
    if (outcome.ok() && outcome->found == Found::no_entry) {
      outcome = co_await ask_and_look(key, value);
    }
    REMORA_CO_TRY(outcome.status());
    if (outcome->found == Found::whole) {
      co_return outcome->size_bytes;
    }
    if (outcome->found != Found::torn) {
      co_return Status(Code::not_found, "there is no such key");
    }
    co_await host().runtime().sleep_for(first_pause_ns << looks);
  }
  co_return Status(Code::timed_out, "neither of the key's two versions is whole; put it again");
}

// READ the neighbourhood, then what the key's bucket leads to.
Task<Result<ErdaClient::Outcome>> ErdaClient::look(ConstBytes key, Bytes value) {
  const Tag tag = layout().geometry.tag(key);
  const std::uint64_t home = home_of(tag, layout().geometry.windows);
  std::array<Bucket, neighbourhood> buckets;
  {  // A flow that waits for a buffer holds no other.
    const Buffer buffer = co_await buffers().take(neighbourhood_bytes);
    REMORA_CO_TRY(
        co_await read(buffer, neighbourhood_bytes,
                      {layout().index.address + home * sizeof(Bucket), layout().index.key}));
    std::memcpy(buckets.data(), buffer.bytes().data(), neighbourhood_bytes);
  }
  for (const Bucket& bucket : buckets) {
    if (bucket.tag == tag) {
      Result<Outcome> outcome =
          co_await read_versions(bucket.words[region_word], bucket.words[sizes_word], key, value);
      if (!outcome.ok() || outcome->found != Found::other_key) {
        co_return outcome;
      }
    }
  }
  co_return Outcome{};
}

Task<Result<ErdaClient::Outcome>> ErdaClient::ask_and_look(ConstBytes key, Bytes value) {
  std::optional<VersionsReply> told;
  {
    rpc::CallSlot slot = co_await caller().slot();
    std::memcpy(slot.request().data(), key.data(), key.size());
    REMORA_CO_TRY_RESULT(reply, co_await caller().call(slot, get_request, key.size()));
    told = read_struct<VersionsReply>(*reply);
  }
  if (!told) {
    co_return Status(Code::closed, "the server sent a malformed reply");
  }
  if (told->generation != layout().generation) {
    REMORA_CO_TRY(co_await refresh());
  }
  co_return co_await read_versions(told->versions, told->sizes, key, value);
}

// The newest version, or else the one before it.
Task<Result<ErdaClient::Outcome>> ErdaClient::read_versions(std::uint64_t versions,
                                                            std::uint64_t sizes, ConstBytes key,
                                                            Bytes value) {
  const unsigned newest = newest_of(versions);
  if (offset_in(versions, newest) == 0) {
    co_return Outcome{};
  }
  Result<Outcome> first =
      co_await read_version(offset_in(versions, newest), size_hint(sizes, newest), key, value);
  if (!first.ok() || first->found != Found::torn) {
    co_return first;
  }
  const Offset previous = offset_in(versions, 1 - newest);
  if (previous == 0) {
    co_return Outcome{Found::no_value, 0};
  }
  ++previous_gets_;
  co_return co_await read_version(previous, size_hint(sizes, 1 - newest), key, value);
}

// The sizes are a hint: when the header says more, the whole is READ again.
Task<Result<ErdaClient::Outcome>> ErdaClient::read_version(std::uint64_t offset,
                                                           std::uint64_t size_hint, ConstBytes key,
                                                           Bytes value) {
  std::uint64_t size = std::clamp<std::uint64_t>(size_hint, sizeof(object_format::Header),
                                                 object_format::largest_bytes);
  for (int reads = 0; reads < 2; ++reads) {
    if (size > buffers().largest_bytes()) {
      co_return Status(Code::no_space, "the value is larger than the client's buffers");
    }
    if (!within(offset, size, layout().pool_bytes)) {
      co_return Outcome{Found::torn, 0};
    }
    if (!reaches(offset, size)) {
      const std::uint64_t least = sizeof(object_format::Header);
      REMORA_CO_TRY(co_await reach(offset, least));
      size = reaches(offset, size) ? size : least;  // a hint that leaves the segment is wrong
    }
    const Buffer buffer = co_await buffers().take(size);
    REMORA_CO_TRY(co_await read(buffer, size, in_pool(offset)));
    const std::uint64_t size_wanted = size_by_header(buffer.bytes());
    if (size_wanted > size) {
      size = size_wanted;
      continue;
    }
    const std::optional<ReadObject> object = ReadObject::parse(buffer.bytes());
    if (!object) {
      co_return Outcome{Found::torn, 0};
    }
    if (!same(object->key, key)) {
      co_return Outcome{Found::other_key, 0};
    }
    host().charge_crc(object->value.size());
    const std::optional<ConstBytes> whole = value_in(
        object->value, key, object->sequence, !host().faults().planted(faults::get_skips_checksum));
    if (!whole) {
      co_return Outcome{Found::torn, 0};
    }
    host().charge_copy(whole->size());
    REMORA_CO_TRY_RESULT(copied, copy_out(*whole, value));
    co_return Outcome{Found::whole, *copied};
  }
  co_return Outcome{Found::torn, 0};
}

}  // namespace remora::kv::erda
