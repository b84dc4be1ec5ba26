#include "rpc/outlet_kept.h"

#include <atomic>
#include <cstring>
#include <utility>

namespace remora::rpc {

Result<std::unique_ptr<KeptOutlet>> KeptOutlet::create(const Host& host,
                                                       const KeptOutletOptions& options) {
  REMORA_TRY_RESULT(sends, host.device().create_completion_queue(1));
  return std::unique_ptr<KeptOutlet>(new KeptOutlet(host, options, std::move(sends).value()));
}

std::uint32_t KeptOutlet::checksum(const Host& host, std::uint32_t call, ConstBytes body) {
  return host.crc(body, host.crc(std::as_bytes(std::span(&call, 1))));
}

void KeptOutlet::ask(fabric::QueuePairOptions& options) {
  options.send_queue = sends_.get();
  options.max_sends = 1;
}

Status KeptOutlet::open(Connection& client, const Introduction&, Introduction& ours) {
  REMORA_TRY_RESULT(slots, Slots::create(*client.domain, options_.window, options_.body_bytes,
                                         fabric::remote_read));
  sides_[client.place] = std::move(slots).value();
  ours.results = sides_[client.place].remote();
  return {};
}

Outlet::Place KeptOutlet::take(Connection& client, std::uint32_t call) {
  const std::uint32_t slot = call & slot_mask;
  return slot < options_.window ? Place{slot, body(client, slot)} : Place();
}

Bytes KeptOutlet::body(Connection& client, std::uint32_t index) {
  return sides_[client.place].slot(index).subspan(sizeof(KeptHead), options_.body_bytes);
}

Status KeptOutlet::send(Connection& client, std::uint32_t index, const MessageHead& head) {
  const Bytes slot = sides_[client.place].slot(index);
  const ConstBytes answer = body(client, index).first(head.size_bytes);
  KeptHead kept = {
      .kind = head.kind, .code = head.code, .size_bytes = head.size_bytes, .call = head.call};
  if (answer.size() <= kept_with_head_bytes) {
    kept.checksum = checksum(host_, head.call, answer);
  }
  std::uint64_t words[2];
  std::memcpy(words, &kept, sizeof kept);
  auto* place = reinterpret_cast<std::uint64_t*>(slot.data());
  std::atomic_ref<std::uint64_t>(place[0]).store(words[0], std::memory_order_relaxed);
  std::atomic_ref<std::uint64_t>(place[1]).store(words[1], std::memory_order_release);
  return {};
}

}  // namespace remora::rpc
