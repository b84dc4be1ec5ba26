#include "fabric/nic/device/fuzz/draft.h"

#include <algorithm>

namespace remora::fabric::nic::fuzz {
namespace {

constexpr PacketOpcode opcodes[] = {
    PacketOpcode::write_only,
    PacketOpcode::read_request,
    PacketOpcode::write_first,
    PacketOpcode::write_middle,
    PacketOpcode::write_last,
    PacketOpcode::compare_swap,
    PacketOpcode::fetch_add,
    PacketOpcode::atomic_write,
    PacketOpcode::flush,
    PacketOpcode::send_only,
    PacketOpcode::send_first,
    PacketOpcode::send_middle,
    PacketOpcode::send_last,
    PacketOpcode::send_last_imm,
    PacketOpcode::send_only_imm,
    PacketOpcode::write_last_imm,
    PacketOpcode::write_only_imm,
    PacketOpcode::send_last_invalidate,
    PacketOpcode::send_only_invalidate,
    PacketOpcode::acknowledge,
    PacketOpcode::atomic_acknowledge,
    PacketOpcode::read_response_first,
    PacketOpcode::read_response_middle,
    PacketOpcode::read_response_last,
    PacketOpcode::read_response_only,
    PacketOpcode::uc_write_only,
    PacketOpcode::uc_send_only,
    PacketOpcode::ud_send_only,
    PacketOpcode::flush_payload,
    PacketOpcode::flush_imm,
    PacketOpcode::sflush,
    PacketOpcode::place_acknowledge,
    PacketOpcode::persisted,
};

// To those that answer nothing; some are for others.
constexpr PacketOpcode silent_opcodes[] = {
    PacketOpcode::uc_write_only, PacketOpcode::uc_write_first,    PacketOpcode::uc_write_middle,
    PacketOpcode::uc_write_last, PacketOpcode::uc_write_last_imm, PacketOpcode::uc_write_only_imm,
    PacketOpcode::uc_send_only,  PacketOpcode::uc_send_first,     PacketOpcode::uc_send_middle,
    PacketOpcode::uc_send_last,  PacketOpcode::uc_send_last_imm,  PacketOpcode::uc_send_only_imm,
    PacketOpcode::ud_send_only,  PacketOpcode::ud_send_only_imm,  PacketOpcode::write_only,
    PacketOpcode::read_request,  PacketOpcode::acknowledge,       PacketOpcode::persisted,
};

constexpr QpNumber nobody = 0x123456;

}  // namespace

Draft Drafter::next(std::span<const std::unique_ptr<Partner>> partners,
                    std::span<const PacketSequence> expected) {
  Draft draft;
  Packet& packet = draft.packet;
  const std::uint8_t head = input_.byte();
  draft.from = (head & 3) % partners.size();
  const Partner& partner = *partners[draft.from];
  packet.acknowledge_request = (head & 4) == 0;
  packet.solicited = (head & 8) != 0;
  packet.queue_pair = partner.qp().number();
  if (head >> 6 == 3) {
    packet.queue_pair = (head & 32) != 0 ? nobody : notice_number;
  }
  packet.opcode = opcodes[input_.byte() % std::size(opcodes)];
  const int late = input_.byte();
  const int shift = late < 0xc0 ? 0 : late - 0xe0;
  packet.sequence = psn_add(expected[draft.from], static_cast<std::uint32_t>(shift));
  aim(packet);
  const std::uint32_t size_bytes = input_.two() % (mtu_bytes_ + 8);
  draft.payload.resize((head & 16) != 0 ? size_bytes : fitting_bytes(partner, packet, size_bytes));
  const std::uint8_t shade = input_.byte();
  for (std::size_t i = 0; i < draft.payload.size(); ++i) {
    draft.payload[i] = static_cast<std::byte>(i * 7 + shade + made_ * 11);
  }
  detail(packet, shade);
  place_word(packet, shade, draft.payload);
  packet.message_count = partner.number();
  make_plain(packet, draft.payload);
  const bool is_read = packet.opcode == PacketOpcode::read_request && packet.length != 0;
  draft.numbers = shift != 0 ? 0 : is_read ? (packet.length - 1) / mtu_bytes_ + 1 : 1;
  ++made_;
  return draft;
}

Draft Drafter::next(const Silent& silent) {
  Draft draft;
  Packet& packet = draft.packet;
  packet.queue_pair = silent.qp().number();
  packet.opcode = silent_opcodes[input_.byte() % std::size(silent_opcodes)];
  const std::uint8_t head = input_.byte();
  packet.solicited = (head & 1) != 0;
  const int shift = head < 0xc0 ? 0 : (head & 0x1f) - 0x10;
  packet.sequence = psn_add(silent.expected(), static_cast<std::uint32_t>(shift));
  aim(packet);
  std::uint32_t size_bytes = input_.two() % (mtu_bytes_ + 8);
  const unsigned place = static_cast<unsigned>(packet.opcode) & 0x1f;
  if ((head & 2) == 0) {  // what its place demands
    const bool goes_on = place == 0x00 || place == 0x01 || place == 0x06 || place == 0x07;
    const bool is_whole = place == 0x0a || place == 0x0b;
    const bool is_end = place == 0x08 || place == 0x09;
    size_bytes = goes_on    ? mtu_bytes_
                 : is_whole ? std::min(packet.length, mtu_bytes_)
                 : is_end   ? std::min(silent.write_left(), mtu_bytes_)
                            : size_bytes % (mtu_bytes_ + 1);
  }
  const auto code = static_cast<std::uint8_t>(packet.opcode);
  draft.payload.resize(packet_rows[code].payload == PacketPayload::any ? size_bytes : 0);
  for (std::size_t i = 0; i < draft.payload.size(); ++i) {
    draft.payload[i] = static_cast<std::byte>(i * 5 + head + made_ * 11);
  }
  if (silent.transport() == Transport::ud) {
    packet.key = (head & 4) == 0 ? silent_key : packet.key;
  }
  packet.message_count = made_;
  packet.immediate = made_;
  make_plain(packet, draft.payload);
  ++made_;
  return draft;
}

// Which key, and which bytes.
void Drafter::aim(Packet& packet) {
  const std::uint8_t where = input_.byte();
  const std::uint16_t offset = input_.two();
  const std::uint16_t length = input_.two();
  const std::size_t named = where & 7;
  const Plot plot = static_cast<Plot>(named < plot_count ? named : plot_open);
  packet.key = named < plot_count  ? ground_.key(plot)
               : (length & 1) == 0 ? ground_.stale_key()
                                   : ground_.key(plot_open) ^ 1U << 20;
  const std::size_t longest = (length & 0x8000) != 0 ? plot_bytes + 16 : 10 * mtu_bytes_;
  packet.length = static_cast<std::uint32_t>(length % longest);
  const std::uint64_t begin = ground_.address(plot);
  packet.address = begin + offset % plot_bytes;
  if ((where & 8) != 0) {  // near the end
    packet.address = begin + plot_bytes - packet.length + (offset & 0xff) - 0x80;
  }
  if ((where & 16) != 0) {  // exactly the whole
    packet.address = begin;
    packet.length = plot_bytes;
  }
  if ((where & 32) != 0) {  // near the beginning
    packet.address = begin + (offset & 0xff) - 0x80;
  }
  if ((where & 64) != 0) {  // so long that it wraps
    packet.length |= 0xffff0000;
  }
  if ((where & 128) != 0) {
    packet.address = -std::uint64_t{offset};
  }
}

// A payload that the place of the packet in its message demands.
std::uint32_t Drafter::fitting_bytes(const Partner& partner, const Packet& packet,
                                     std::uint32_t wanted) const {
  switch (packet.opcode) {
    case PacketOpcode::send_first:
    case PacketOpcode::send_middle:
    case PacketOpcode::write_first:
    case PacketOpcode::write_middle:
      return mtu_bytes_;
    case PacketOpcode::write_only:
    case PacketOpcode::write_only_imm:
      return std::min(packet.length, mtu_bytes_);
    case PacketOpcode::write_last:
    case PacketOpcode::write_last_imm:
      return std::min(partner.write_left(), mtu_bytes_);
    case PacketOpcode::atomic_write:
      return word_bytes;
    case PacketOpcode::flush_payload:
      return placed_word_bytes;
    default:
      return is_request(packet.opcode) && !is_send(packet.opcode) ? 0 : wanted;
  }
}

void Drafter::detail(Packet& packet, std::uint8_t shade) {
  const bool is_word = packet.opcode == PacketOpcode::compare_swap ||
                       packet.opcode == PacketOpcode::fetch_add ||
                       packet.opcode == PacketOpcode::atomic_write;
  if (is_word && (shade & 0x80) == 0) {
    packet.address = round_down<std::uint64_t>(packet.address, word_bytes);
  }
  packet.swap_or_add = 0x0102'0408'1020'0301 * (shade & 7U);
  packet.compare = shade;
  if ((shade & 0x40) != 0 && ground_.grants({.rights = every_access}, packet.key, packet.address,
                                            word_bytes, remote_atomic)) {
    packet.compare = load<std::uint64_t>(ground_.expected(packet.address, word_bytes).data());
  }
  packet.flush_placement = shade & 3;
  packet.flush_select = shade >> 2 & 3;
  packet.syndrome = shade;
}

// Of a FLUSH with payload: where its word goes, most often a place that there is.
void Drafter::place_word(const Packet& packet, std::uint8_t shade, Bytes payload) {
  if (packet.opcode != PacketOpcode::flush_payload || payload.size() != placed_word_bytes) {
    return;
  }
  const Plot plot = static_cast<Plot>(shade % plot_count);
  const std::uint64_t offset = std::uint64_t{made_} * 40 % plot_bytes + (shade >> 5 == 7 ? 4 : 0);
  encode_placed_word(
      {ground_.address(plot) + offset, ground_.key(plot), load<std::uint64_t>(payload.data() + 16)},
      payload);
}

void make_plain(Packet& packet, Bytes payload) {
  if (packet.opcode == PacketOpcode::flush_payload && payload.size() == placed_word_bytes) {
    payload = payload.last(word_bytes);
  }
  packet.swap_or_add &=
      packet.opcode == PacketOpcode::fetch_add ? summand_mask : summand_mask * written_mask;
  for (std::byte& byte : payload) {
    byte &= std::byte{written_mask};
  }
}

}  // namespace remora::fabric::nic::fuzz
