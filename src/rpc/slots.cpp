#include "rpc/slots.h"

#include <atomic>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "pmem/open_region.h"

namespace remora::rpc {

namespace {

// The last two numbers of a tail, as they travel: the attempt shares its number with the size.
struct TailBytes {
  Kind kind;
  std::uint16_t code;
  std::uint16_t flags;
  std::uint16_t reserved;
  std::uint32_t size_and_attempt;
  std::uint32_t call;
};
static_assert(sizeof(TailBytes) == sizeof(SlotTail));

}  // namespace

std::size_t compose(Bytes memory, const SlotTail& tail) {
  const std::size_t body = filled(tail.size_bytes);
  REMORA_CHECK(tail.size_bytes <= slot_body_max && body + sizeof tail <= memory.size(),
               "a message is longer than its slot");
  std::memset(memory.data() + tail.size_bytes, 0, body - tail.size_bytes);
  const TailBytes bytes = {
      .kind = tail.kind,
      .code = tail.code,
      .flags = tail.flags,
      .reserved = 0,
      .size_and_attempt = tail.size_bytes | (tail.attempt & ((1u << attempt_bits) - 1))
                                                << (32 - attempt_bits),
      .call = tail.call};
  std::memcpy(memory.data() + body, &bytes, sizeof bytes);
  return body + sizeof bytes;
}

Result<Slots> Slots::create(fabric::ProtectionDomain& domain, std::uint32_t window,
                            std::size_t body_bytes, fabric::AccessFlags access) {
  REMORA_CHECK(window > 0 && window <= slot_mask && body_bytes <= slot_body_max,
               "slots out of range");
  Slots slots;
  slots.window_ = window;
  slots.slot_bytes_ = slot_bytes_for(body_bytes);
  // Memory without a name, so that a peer on this host may map it.
  REMORA_TRY_RESULT(region, make_dram((window * slots.slot_bytes_ + 4095) / 4096 * 4096));
  slots.region_ = std::move(region).value();
  REMORA_TRY_RESULT(memory,
                    domain.register_memory(slots.region_->bytes().first(window * slots.slot_bytes_),
                                           access, slots.region_.get()));
  slots.memory_ = std::move(memory).value();
  return slots;
}

std::uint64_t Slots::word(std::uint32_t index) const {
  auto* last = reinterpret_cast<std::uint64_t*>(slot(index).last(8).data());
  return std::atomic_ref<std::uint64_t>(*last).load(std::memory_order_acquire);
}

std::optional<Slots::Message> Slots::message(std::uint32_t index) const {
  const Bytes slot_memory = slot(index);
  TailBytes bytes;
  std::memcpy(&bytes, slot_memory.last(sizeof bytes).data(), sizeof bytes);
  const std::uint32_t size = bytes.size_and_attempt & slot_body_max;
  if (bytes.reserved != 0 || bytes.code > static_cast<std::uint16_t>(Code::conflict) ||
      slot_message_bytes(size) > slot_bytes_ || bytes.call == 0) {
    return std::nullopt;
  }
  const SlotTail tail = {
      .kind = bytes.kind,
      .code = bytes.code,
      .flags = bytes.flags,
      .attempt = static_cast<std::uint16_t>(bytes.size_and_attempt >> (32 - attempt_bits)),
      .size_bytes = size,
      .call = bytes.call};
  return Message{tail, slot_memory.subspan(slot_bytes_ - slot_message_bytes(size), size)};
}

}  // namespace remora::rpc
