#include "fabric/nic/device/fuzz/silent.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace remora::fabric::nic::fuzz {
namespace {

constexpr PacketSequence silent_first = 0xfffffc;

// The numbers of the standard: the transport in the top three bits, the place in the others.
unsigned transport_of(const Packet& packet) {
  return static_cast<unsigned>(packet.opcode) >> 5;
}
unsigned place_of(const Packet& packet) {
  return static_cast<unsigned>(packet.opcode) & 0x1f;
}
constexpr unsigned write_first_place = 0x06;
bool is_first(unsigned place) {
  return place == 0x00 || place == 0x04 || place == 0x05 || place == 0x06 || place == 0x0a ||
         place == 0x0b;
}
bool is_last(unsigned place) {
  return place != 0x00 && place != 0x01 && place != 0x06 && place != 0x07;
}
bool has_immediate(unsigned place) {
  return place == 0x03 || place == 0x05 || place == 0x09 || place == 0x0b;
}

}  // namespace

Silent::Silent(Ground& ground, std::unique_ptr<QueuePair> qp, Transport transport,
               const Asker& asker, QpNumber number, const Gid& gid, const Gid& own,
               std::uint32_t mtu_bytes)
    : ground_(ground),
      qp_(std::move(qp)),
      transport_(transport),
      asker_(asker),
      number_(number),
      gid_(gid),
      own_(own),
      mtu_bytes_(mtu_bytes) {
  reconnect();
}

void Silent::reconnect() {
  qp_->reset();
  REMORA_CHECK(qp_->initialise().ok(), "a queue pair that was reset can be initialised");
  REMORA_CHECK(qp_->connect({number_, silent_first, gid_}, {.remote_access = asker_.rights}).ok(),
               "and connected");
  expected_ = silent_first;
  open_ = Open::none;
  failed_ = false;
  done_ = 0;
  receives_.clear();
  told_.clear();
}

void Silent::post_receive(std::size_t offset, std::uint32_t size_bytes, bool usable) {
  const bool is_datagram = transport_ == Transport::ud;
  if (failed_ || (is_datagram && size_bytes < datagram_header_bytes)) {
    return;
  }
  const Plot plot = usable ? plot_receiving : plot_constant;
  // In two pieces, where there is enough for two.
  const std::uint32_t first = is_datagram ? datagram_header_bytes : size_bytes / 2;
  const Sge pieces[] = {ground_.piece(plot, offset, first),
                        ground_.piece(plot, offset + first, size_bytes - first)};
  const ReceiveWork work = {++posted_, pieces};
  REMORA_CHECK(qp_->post_receive(std::span(&work, 1)).ok(), "there is room for a receive");
  // Its domain has to know the key, too.
  receives_.push_back({posted_, offset, size_bytes, usable && !asker_.foreign});
}

void Silent::lose_receives() {
  for (Receive& receive : receives_) {
    receive.usable = false;
  }
}

bool Silent::judge(const Packet& packet, ConstBytes payload) {
  if (failed_) {
    return false;
  }
  if (transport_ == Transport::uc) {
    return transport_of(packet) == 1 && judge_connection(packet, payload);
  }
  if (transport_of(packet) == 3) {
    judge_datagram(packet, payload);
  }
  return false;
}

bool Silent::judge_connection(const Packet& packet, ConstBytes payload) {
  const std::int32_t ahead = psn_distance(expected_, packet.sequence);
  if (ahead < 0) {
    return false;
  }
  const unsigned place = place_of(packet);
  const Open kind = place >= write_first_place ? Open::write : Open::send;
  const bool first = is_first(place);
  const bool last = is_last(place);
  const bool goes_on = ahead == 0 && open_ == kind;
  expected_ = psn_add(packet.sequence, 1);
  open_ = Open::none;  // unless all is well
  if (!first && !goes_on) {
    return false;
  }
  if (first) {
    done_ = 0;
  }
  if (first && kind == Open::write) {
    const bool granted = packet.length == 0 ? (asker_.rights & remote_write) != 0
                                            : ground_.grants(asker_, packet.key, packet.address,
                                                             packet.length, remote_write);
    if (!granted) {
      return true;
    }
    key_ = packet.key;
    address_ = packet.address;
    length_ = packet.length;
  }
  const std::size_t least = !last ? mtu_bytes_ : first ? 0 : 1;
  if (payload.size() < least || payload.size() > mtu_bytes_) {
    return false;
  }
  if (kind == Open::send) {
    send(packet, payload, last);
    return false;
  }
  const std::uint32_t left = length_ - done_;
  const bool fits = last ? payload.size() == left : payload.size() < left;
  if (!fits || (last && has_immediate(place) && receives_.empty())) {
    return false;
  }
  if (!payload.empty()) {
    const std::uint64_t to = address_ + done_;
    if (!ground_.grants(asker_, key_, to, payload.size(), remote_write)) {
      return false;  // not any more
    }
    std::ranges::copy(payload, ground_.expected(to, payload.size()).begin());
  }
  done_ += static_cast<std::uint32_t>(payload.size());
  if (!last) {
    open_ = Open::write;
  } else if (has_immediate(place)) {
    finish(packet, done_);
  }
  return false;
}

void Silent::send(const Packet& packet, ConstBytes payload, bool last) {
  if (receives_.empty() || done_ + payload.size() > receives_.front().size_bytes ||
      !store(done_, payload)) {
    return;
  }
  done_ += static_cast<std::uint32_t>(payload.size());
  open_ = Open::send;
  if (last) {
    finish(packet, done_);
  }
}

void Silent::judge_datagram(const Packet& packet, ConstBytes payload) {
  const std::size_t size = datagram_header_bytes + payload.size();
  if (packet.key != silent_key || payload.size() > mtu_bytes_ || receives_.empty() ||
      size > receives_.front().size_bytes) {
    return;
  }
  const DatagramHeader header = {.from_number = packet.message_count, .from = gid_, .to = own_};
  if (store(0, object_bytes(header)) && store(datagram_header_bytes, payload)) {
    finish(packet, static_cast<std::uint32_t>(size));
  }
}

// Into the oldest receive; false when that is the end of the queue pair.
bool Silent::store(std::uint32_t into, ConstBytes payload) {
  const Receive& receive = receives_.front();
  if (!payload.empty() && !receive.usable) {
    failed_ = true;
    open_ = Open::none;
    told_.push_back({.id = receive.id, .status = WorkStatus::local_protection_error});
    receives_.pop_front();
    for (const Receive& other : receives_) {
      told_.push_back({.id = other.id, .status = WorkStatus::flushed});
    }
    receives_.clear();
    return false;
  }
  if (!payload.empty()) {
    const std::uint64_t to = ground_.address(plot_receiving) + receive.offset + into;
    std::ranges::copy(payload, ground_.expected(to, payload.size()).begin());
  }
  return true;
}

void Silent::finish(const Packet& packet, std::uint32_t size_bytes) {
  told_.push_back({.id = receives_.front().id,
                   .has_immediate = has_immediate(place_of(packet)),
                   .immediate = packet.immediate,
                   .size_bytes = size_bytes});
  receives_.pop_front();
  open_ = Open::none;
}

void Silent::take(const WorkCompletion& completion) {
  REMORA_CHECK(!told_.empty(), "a receive of a message that did not come");
  const WorkCompletion& told = told_.front();
  REMORA_CHECK(told.id == completion.id && told.status == completion.status,
               "receives complete in the order posted");
  REMORA_CHECK(told.size_bytes == completion.size_bytes, "a receive tells how much came");
  REMORA_CHECK(told.has_immediate == completion.has_immediate &&
                   (!told.has_immediate || told.immediate == completion.immediate),
               "immediate data comes as it was");
  told_.pop_front();
}

void Silent::check_state() {
  REMORA_CHECK(told_.empty(), "a message completes its receive");
  REMORA_CHECK(failed_ == (qp_->state() == QpState::error), "only a wrong receive is the end");
}

}  // namespace remora::fabric::nic::fuzz
