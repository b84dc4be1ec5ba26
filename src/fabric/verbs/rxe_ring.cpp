#include "fabric/verbs/rxe_ring.h"

#include <rdma/rdma_user_rxe.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "base/bytes.h"

namespace remora::fabric::verbs {
namespace {

constexpr std::uint32_t rxe_vendor = 0xffffff;
constexpr std::uint32_t flush_opcode = 14;
constexpr std::uint32_t atomic_write_opcode = 15;
constexpr std::uint32_t largest_element_log2 = 14;
constexpr std::uint64_t mark = 0x5265'6d6f'7261'2121;  // a name that no request has

// What a FLUSH has in the place of rxe_send_wr::wr: newer headers name it.
struct FlushFields {
  std::uint64_t remote_address;
  std::uint32_t size_bytes;
  std::uint32_t remote_key;
  std::uint8_t type;
  std::uint8_t level;
};
static_assert(offsetof(FlushFields, level) == 17);
static_assert(sizeof(FlushFields) <= sizeof(rxe_send_wr::wr));

// The entry that libibverbs fills and has not handed over.
rxe_send_wqe* open_entry(std::byte* queue) {
  auto* head = reinterpret_cast<rxe_queue_buf*>(queue);
  const std::uint32_t at = std::atomic_ref(head->producer_index).load() & head->index_mask;
  return reinterpret_cast<rxe_send_wqe*>(queue + sizeof(rxe_queue_buf) +
                                         (std::size_t{at} << head->log2_elem_size));
}

bool holds_mark(std::byte* queue, std::size_t mapped_bytes) {
  if (mapped_bytes < sizeof(rxe_queue_buf)) {
    return false;
  }
  const auto* head = reinterpret_cast<const rxe_queue_buf*>(queue);
  const std::size_t entries = std::size_t{head->index_mask} + 1;
  if (head->log2_elem_size > largest_element_log2 ||
      (std::size_t{1} << head->log2_elem_size) < sizeof(rxe_send_wqe) ||
      sizeof(rxe_queue_buf) + (entries << head->log2_elem_size) > mapped_bytes) {
    return false;
  }
  const rxe_send_wqe* entry = open_entry(queue);
  return entry->wr.wr_id == mark && entry->wr.opcode == atomic_write_opcode;
}

// What this process shares with RDMA devices, until one holds the mark.
std::byte* marked_mapping() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("/dev/infiniband/uverbs") == line.npos) {
      continue;
    }
    std::istringstream words(line);
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    char dash = 0;
    std::string rights;
    words >> std::hex >> begin >> dash >> end >> rights;
    if (words && rights.starts_with("rw")) {
      auto* queue = reinterpret_cast<std::byte*>(begin);
      if (holds_mark(queue, end - begin)) {
        return queue;
      }
    }
  }
  return nullptr;
}

}  // namespace

bool is_rxe(const ibv_device_attr& attributes) {
  return attributes.vendor_id == rxe_vendor;
}

std::optional<RxeRing> RxeRing::find([[maybe_unused]] ibv_qp_ex* pair) {
  std::byte* queue = nullptr;
#ifdef REMORA_VERBS_HAVE_ATOMIC_WRITE
  std::uint64_t nothing = 0;
  ibv_wr_start(pair);
  pair->wr_id = mark;
  pair->wr_flags = 0;
  ibv_wr_atomic_write(pair, 0, 0, &nothing);
  queue = marked_mapping();
  ibv_wr_abort(pair);
#endif
  return queue == nullptr ? std::nullopt : std::optional(RxeRing(queue));
}

void RxeRing::turn_into_flush(const SendWork& work) const {
  const bool of_region = work.flush_select == FlushSelect::region;
  const std::uint32_t size = of_region ? 0 : work.flush_bytes;
  const FlushFields fields = {.remote_address = work.remote.address,
                              .size_bytes = size,
                              .remote_key = work.remote.key,
                              .type = static_cast<std::uint8_t>(work.flush_placement),
                              .level = static_cast<std::uint8_t>(work.flush_select)};
  rxe_send_wqe* entry = open_entry(queue_);
  entry->wr.opcode = flush_opcode;
  std::memcpy(&entry->wr.wr, &fields, sizeof fields);
  entry->dma.length = entry->dma.resid = size;
}

}  // namespace remora::fabric::verbs
