#include "kv/rivals/efactory_published/client.h"

#include <array>
#include <cstring>

#include "kv/common/values.h"
#include "kv/common/wire.h"
#include "kv/rivals/efactory_published/entry_format.h"

namespace remora::kv::efactory_published {
namespace {

constexpr std::uint64_t retry_ns = 20'000;
constexpr std::uint64_t longest_retry_ns = 80'000;
// How often a get asks when the object has moved before it was READ.
constexpr int most_asks = 8;

}  // namespace

PublishedClient::PublishedClient(std::unique_ptr<rpc::Caller> caller_of,
                                 std::unique_ptr<Buffers> buffers_of, const PlainLayout& layout,
                                 const ClientOptions& options, Gets gets)
    : PlainClient(std::move(caller_of), std::move(buffers_of), layout, options),
      gets_(gets),
      timeout_ns_(options.timeout_ns) {
  caller().on_notice([this](rpc::Kind kind, ConstBytes body) {
    const std::optional<std::uint64_t> phase = read_struct<std::uint64_t>(body);
    if (kind == new_phase && phase && *phase > phase_) {
      phase_ = *phase;
      forget_segments();
    }
  });
}

// --- Put ---

// While the log is cleaned there may be no room for a moment.
Task<Status> PublishedClient::put(ConstBytes key, ConstBytes value, PutOptions options) {
  const std::uint64_t give_up_ns = host().runtime().after(timeout_ns_);
  for (std::uint64_t wait_ns = retry_ns;; wait_ns = std::min(2 * wait_ns, longest_retry_ns)) {
    Status status = co_await put_client_active(key, value, Checksum::by_client, options);
    if (status.code() != Code::in_use || host().now_ns() > give_up_ns) {
      co_return status;
    }
    co_await host().runtime().sleep_for(wait_ns);
  }
}

// --- Get ---

Task<Result<std::size_t>> PublishedClient::get(ConstBytes key, Bytes value) {
  REMORA_CO_TRY(check_sizes(key, {}));
  const Credit credit = co_await enter();
  if (may_read()) {
    std::optional<std::size_t> size;
    REMORA_CO_TRY(co_await read_optimistically(key, value, size));
    if (size) {
      ++pure_gets_;
      co_return *size;
    }
  }
  co_return co_await ask_and_read(key, value);
}

// Two READs: the hash entry, and the object, whose flag says that it is durable.
Task<Status> PublishedClient::read_optimistically(ConstBytes key, Bytes value,
                                                  std::optional<std::size_t>& size) {
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
    const Place place = decode(bucket.words[mark_of(bucket.words)]);
    if (bucket.tag != tag || !lies_within(place, layout().pool_bytes) ||
        place.size_bytes > buffers().largest_bytes()) {
      continue;
    }
    if (!reaches(place.offset, place.size_bytes)) {
      REMORA_CO_TRY(co_await reach(place.offset, place.size_bytes));
    }
    const Buffer buffer = co_await buffers().take(place.size_bytes);
    REMORA_CO_TRY(co_await read(buffer, place.size_bytes, in_pool(place.offset)));
    const std::optional<ReadObject> object = ReadObject::parse(buffer.bytes());
    if (object && object->durable && same(object->key, key)) {
      host().charge_copy(object->value.size());
      REMORA_CO_TRY_RESULT(copied, copy_out(object->value, value));
      size = *copied;
      co_return Status();
    }
  }
  co_return Status();
}

Task<Result<std::size_t>> PublishedClient::ask_and_read(ConstBytes key, Bytes value) {
  for (int asks = 0; asks < most_asks; ++asks) {
    REMORA_CO_TRY_RESULT(found, co_await ask(key));
    if (found->generation != layout().generation) {
      REMORA_CO_TRY(co_await refresh());
    }
    Result<std::size_t> size = co_await read_found(*found, key, value);
    const bool has_moved = size.status().code() == Code::closed && failure().ok();
    if (!has_moved) {
      co_return size;
    }
  }
  co_return Status(Code::timed_out, "the object moved whenever it was asked for; try again");
}

}  // namespace remora::kv::efactory_published
