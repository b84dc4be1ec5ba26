// How requests reach the device: by ibv_post_send in batches, and those that it has no opcode for
// by calls of their own.
#include <endian.h>

#include <algorithm>
#include <bit>

#include "fabric/posting.h"
#include "fabric/verbs/domain.h"
#include "fabric/verbs/queue_pair.h"
#include "fabric/verbs/translate.h"

namespace remora::fabric::verbs {
namespace {

// A1: the responder has to refuse it. Some devices would not even post it.
bool is_misplaced(const SendWork& work) {
  return changes_word(work.opcode) && work.remote.address % word_bytes != 0;
}

// The flag, if it is wanted.
unsigned flag(bool wanted, ibv_send_flags which) {
  return wanted ? static_cast<unsigned>(which) : 0U;
}

}  // namespace

bool Qp::is_native(Opcode opcode) const {
  return (opcode == Opcode::flush && context_.methods().flush == FlushMethod::native) ||
         (opcode == Opcode::atomic_write &&
          context_.methods().atomic_write == AtomicWriteMethod::native);
}

WorkName Qp::name_of_next(bool receive) const {
  return {.sequence = receive ? receives_.next() : sends_.next(),
          .slot = place_.slot,
          .generation = place_.generation,
          .receive = receive};
}

// Every so often one is asked for that the caller will not see: only completions empty the queue.
bool Qp::wants_signal(const SendWork& work) {
  const bool wanted = work.signalled || ++unsignalled_ >= std::max(options_.max_sends / 2, 1U);
  if (wanted) {
    unsignalled_ = 0;
  }
  return wanted;
}

void Qp::fill(const SendWork& work, std::size_t place) {
  ibv_send_wr& request = requests_[place];
  request = {};
  request.wr_id = name_of_next(false).packed();
  request.next = nullptr;
  request.send_flags = flag(wants_signal(work), IBV_SEND_SIGNALED) |
                       flag(work.inline_data, IBV_SEND_INLINE) | flag(work.fence, IBV_SEND_FENCE) |
                       flag(work.solicited, IBV_SEND_SOLICITED);
  request.sg_list = pieces_.data() + place * std::max(options_.max_pieces, 1U);
  if (is_misplaced(work)) [[unlikely]] {
    fill_refused(place);
    return;
  }
  const std::optional<ibv_wr_opcode> opcode = to_opcode(work.opcode);
  if (!opcode) {
    fill_fallback(work, place);
    return;
  }
  request.opcode = *opcode;
  request.num_sge = static_cast<int>(work.pieces.size());
  std::ranges::transform(work.pieces, request.sg_list, to_sge);
  request.imm_data = htobe32(work.immediate);
  if (is_datagram()) {
    request.wr.ud = {.ah = domain_->find_address(handle_of(work.remote)),
                     .remote_qpn = queue_pair_of(work.remote),
                     .remote_qkey = work.remote.key};
  } else if (is_atomic(work.opcode)) {
    const bool swaps = work.opcode == Opcode::compare_swap;
    request.wr.atomic = {.remote_addr = work.remote.address,
                         .compare_add = swaps ? work.compare : work.operand,
                         .swap = work.operand,
                         .rkey = work.remote.key};
  } else {
    request.wr.rdma = {.remote_addr = work.remote.address, .rkey = work.remote.key};
  }
}

void Qp::fill_fallback(const SendWork& work, std::size_t place) {
  ibv_send_wr& request = requests_[place];
  request.num_sge = 1;
  request.wr.rdma = {.remote_addr = work.remote.address, .rkey = work.remote.key};
  if (work.opcode == Opcode::flush) {
    const bool of_region = work.flush_select == FlushSelect::region;
    const std::uint32_t size = of_region ? 1 : work.flush_bytes;
    request.opcode = IBV_WR_RDMA_READ;
    request.sg_list[0] = domain_->scratch(std::min(size, 1U));
    request.wr.rdma.remote_addr += size > 1 ? size - 1 : 0;
  } else {
    words_[place] = work.operand;
    request.opcode = IBV_WR_RDMA_WRITE;
    request.send_flags |= IBV_SEND_INLINE;
    request.sg_list[0] = {reinterpret_cast<std::uintptr_t>(&words_[place]), word_bytes, 0};
  }
}

// No region holds the first page of memory: it fails in its turn, and nothing is sent.
void Qp::fill_refused(std::size_t place) {
  ibv_send_wr& request = requests_[place];
  request.opcode = IBV_WR_RDMA_WRITE;
  request.num_sge = 1;
  request.sg_list[0] = domain_->scratch(word_bytes);
  request.sg_list[0].addr = word_bytes;
}

std::span<Sge> Qp::kept_pieces(std::uint32_t sequence) {
  const std::uint32_t mask = std::bit_ceil(std::max(options_.max_sends, 1U)) - 1;
  return std::span(kept_).subspan(std::size_t{sequence & mask} * options_.max_pieces,
                                  options_.max_pieces);
}

void Qp::keep_pieces(const SendWork& work) {
  std::ranges::copy(work.pieces, kept_pieces(sends_.next()).begin());
}

bool Qp::has_wrong_piece(std::uint32_t sequence, const PostedWork& work) {
  const bool stores = brings_bytes(work.opcode);
  return std::ranges::any_of(kept_pieces(sequence).first(work.pieces),
                             [&](const Sge& piece) { return !domain_->covers(piece, stores); });
}

// The first `count` of requests_, which are in the ring, go to the device.
Status Qp::post_ready(std::size_t count) {
  if (count == 0) {
    return Status();
  }
  for (std::size_t i = 0; i + 1 < count; ++i) {
    requests_[i].next = &requests_[i + 1];
  }
  ibv_send_wr* refused = nullptr;
  const int error = ibv_post_send(pair_, requests_.data(), &refused);
  if (error == 0) [[likely]] {
    return Status();
  }
  const auto posted = static_cast<std::size_t>(refused == nullptr ? 0 : refused - requests_.data());
  sends_.take_back(static_cast<std::uint32_t>(count - std::min(posted, count)));
  return post_failure(error);
}

Status Qp::post_native([[maybe_unused]] const SendWork& work) {
#if defined(REMORA_VERBS_HAVE_FLUSH) || defined(REMORA_VERBS_HAVE_ATOMIC_WRITE)
  ibv_wr_start(extended_);
  extended_->wr_id = name_of_next(false).packed();
  extended_->wr_flags =
      flag(wants_signal(work), IBV_SEND_SIGNALED) | flag(work.fence, IBV_SEND_FENCE);
#ifdef REMORA_VERBS_HAVE_FLUSH
  if (work.opcode == Opcode::flush) {
    const bool of_region = work.flush_select == FlushSelect::region;
    ibv_wr_flush(extended_, work.remote.key, work.remote.address, of_region ? 0 : work.flush_bytes,
                 work.flush_placement == FlushPlacement::persistence ? IBV_FLUSH_PERSISTENT
                                                                     : IBV_FLUSH_GLOBAL,
                 of_region ? IBV_FLUSH_MR : IBV_FLUSH_RANGE);
  }
#endif
#ifdef REMORA_VERBS_HAVE_ATOMIC_WRITE
  if (work.opcode == Opcode::atomic_write) {
    ibv_wr_atomic_write(extended_, work.remote.key, work.remote.address, &work.operand);
  } else if (ring_) {
    ibv_wr_atomic_write(extended_, work.remote.key, work.remote.address, &work.operand);
    ring_->turn_into_flush(work);
  }
#endif
  if (const int error = ibv_wr_complete(extended_)) {
    return post_failure(error);
  }
  sends_.push({.id = work.id, .opcode = work.opcode, .signalled = work.signalled});
#endif
  return Status();
}

const char* Qp::why_not(const SendWork& work) const {
  if (static_cast<std::size_t>(work.opcode) < opcode_rows.size() && is_vendor(work.opcode)) {
    return not_agreed;
  }
  if (!is_datagram()) {
    return why_not_post(work, options_);
  }
  if (const char* reason =
          why_not_post_datagram(work, options_, context_.attributes().max_datagram_bytes)) {
    return reason;
  }
  return domain_->find_address(handle_of(work.remote)) == nullptr
             ? "the domain has no such address handle; see AddressHandle::to"
             : nullptr;
}

Status Qp::post_sends(std::span<const SendWork> works) {
  if (state_ == QpState::reset || state_ == QpState::init) {
    return Status(Code::closed, "the queue pair is not connected");
  }
  std::size_t ready = 0;
  for (const SendWork& work : works) {
    const char* reason = why_not(work);
    if (reason != nullptr || sends_.room() == 0) [[unlikely]] {
      REMORA_TRY(post_ready(ready));
      return reason != nullptr
                 ? Status(reason == not_agreed ? Code::unsupported : Code::invalid_argument, reason)
                 : Status(Code::no_space, "the send queue is full; poll its completions");
    }
    context_.count_request();
    const bool misplaced = is_misplaced(work);
    if (is_native(work.opcode) && !misplaced) {
      REMORA_TRY(post_ready(ready));
      ready = 0;
      REMORA_TRY(post_native(work));
      continue;
    }
    fill(work, ready);
    const std::uint64_t size = brings_bytes(work.opcode) ? total_bytes(work.pieces) : 0;
    const bool has_keys = to_opcode(work.opcode) && !work.inline_data;
    if (has_keys) {
      keep_pieces(work);
    }
    sends_.push({.id = work.id,
                 .size_bytes = static_cast<std::uint32_t>(size),
                 .opcode = work.opcode,
                 .pieces = static_cast<std::uint8_t>(has_keys ? work.pieces.size() : 0),
                 .signalled = work.signalled,
                 .refused = misplaced});
    if (++ready == batch) {
      REMORA_TRY(post_ready(ready));
      ready = 0;
    }
  }
  return post_ready(ready);
}

Status Qp::post_receive(std::span<const ReceiveWork> works) {
  if (state_ == QpState::reset) {
    return Status(Code::closed, "the queue pair is reset; initialise it first");
  }
  for (const ReceiveWork& work : works) {
    if (const char* reason = why_not_receive(work, options_)) {
      return Status(Code::invalid_argument, reason);
    }
    if (receives_.room() == 0) {
      return Status(Code::no_space, "the receive queue is full");
    }
    std::ranges::transform(work.pieces, pieces_.begin(), to_sge);
    ibv_recv_wr request = {.wr_id = name_of_next(true).packed(),
                           .next = nullptr,
                           .sg_list = pieces_.data(),
                           .num_sge = static_cast<int>(work.pieces.size())};
    ibv_recv_wr* refused = nullptr;
    if (const int error = ibv_post_recv(pair_, &request, &refused)) {
      return post_failure(error);
    }
    if (is_datagram()) {
      headers_[receives_.place(receives_.next())] = work.pieces[0].address;
    }
    receives_.push({.id = work.id, .opcode = Opcode::receive});
  }
  if (state_ == QpState::error) {
    enter_error();  // once more: Linux rxe flushes receives only then
  }
  return Status();
}

}  // namespace remora::fabric::verbs
