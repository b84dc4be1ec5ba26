#include "link/store_link.h"

#include <array>
#include <utility>

namespace remora::link {
namespace {

// Up to which a value travels within the request of a put through shared memory. There a message
// costs both sides less than the second half of such a put: the client's WRITE, and the checksum of
// a value that the server did not see come. Values of 4 KB are better copied once.
constexpr std::uint32_t local_whole_value_bytes = 512;

}  // namespace

Task<Result<std::unique_ptr<StoreLink>>> StoreLink::connect(Runtime& runtime, std::string path,
                                                            StoreLinkOptions options) {
  REMORA_CO_TRY_RESULT(session, co_await SessionLink::connect(runtime, std::move(path), options));
  REMORA_CO_TRY_RESULT(engine, kv::find_engine((*session)->design()));
  if ((*session)->rdma() != nullptr || (*session)->is_network()) {
    options.client.connect = (*session)->patience();
    if ((*session)->rdma() == nullptr) {
      options.client.verified_bytes = kv::verified_beyond_network_bytes;
    }
  } else if (!options.client.whole_value_bytes) {
    options.client.whole_value_bytes = local_whole_value_bytes;
    options.client.whole_gets = false;
  }
  std::unique_ptr<StoreLink> link(new StoreLink(runtime, std::move(session).value(), **engine));
  REMORA_CO_TRY(co_await link->join(std::move(options.client)));
  co_return link;
}

Task<Status> StoreLink::join(kv::ClientOptions options) {
  REMORA_CO_TRY_RESULT(pending, engine_->start_client(host(), options));
  REMORA_CO_TRY_RESULT(server, co_await session_->join((*pending)->address().queue_pair));
  REMORA_CO_TRY_RESULT(store, co_await (*pending)->connect(kv::PeerAddress{*server}));
  store_ = std::move(store).value();
  co_return Status();
}

// A key is asked about when it is first used, and the answer takes its time.
Task<WireKind> StoreLink::wire_taken() {
  constexpr int most_tries = 100;
  constexpr std::uint64_t between_ns = 100'000;
  if (session_->is_network()) {
    co_return WireKind::roce;
  }
  const std::array<std::byte, 1> key = {};
  for (int i = 0; i < most_tries && session_->short_cuts() == 0; ++i) {
    (void)co_await store_->get(key, {});
    co_await runtime_.sleep_for(between_ns);
  }
  co_return session_->short_cuts() == 0 ? WireKind::ring : WireKind::mapped;
}

}  // namespace remora::link
