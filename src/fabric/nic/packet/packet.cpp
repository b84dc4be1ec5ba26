#include "fabric/nic/packet/packet.h"

#include <array>
#include <cstring>

#include "base/racy_copy.h"

namespace remora::fabric::nic {
namespace {

constexpr std::size_t acknowledge_bytes = bth_bytes + aeth_bytes;

constexpr std::uint16_t partition_mask = 0x7fff;  // the top bit is membership, not identity

template <typename T>
T swapped(T value) {
  if constexpr (sizeof value == 8) {
    return __builtin_bswap64(value);
  } else if constexpr (sizeof value == 4) {
    return __builtin_bswap32(value);
  } else {
    return __builtin_bswap16(value);
  }
}

class Writer {
 public:
  explicit Writer(std::byte* at) : at_(at) {}
  template <typename T>
  void put(T value) {
    if constexpr (sizeof value == 1) {
      store(at_, value);
    } else {
      store(at_, swapped(value));
    }
    at_ += sizeof value;
  }

 private:
  std::byte* at_;
};

class Reader {
 public:
  explicit Reader(const std::byte* at) : at_(at) {}
  template <typename T>
  T take() {
    const T value = load<T>(at_);
    at_ += sizeof value;
    if constexpr (sizeof value == 1) {
      return value;
    } else {
      return swapped(value);
    }
  }

 private:
  const std::byte* at_;
};

std::uint32_t padding_of(std::size_t payload_bytes) {
  return static_cast<std::uint32_t>(-payload_bytes & 3);
}

void put_extensions(Writer writer, const Packet& packet, std::uint8_t parts) {
  if ((parts & part_feth) != 0) {
    writer.put(std::uint32_t{packet.flush_placement} | std::uint32_t{packet.flush_select} << 4);
  }
  if ((parts & part_deth) != 0) {
    writer.put(packet.key);
    writer.put(packet.message_count & sequence_mask);
  }
  if ((parts & (part_reth | part_atomic_eth)) != 0) {
    writer.put(packet.address);
    writer.put(packet.key);
  }
  if ((parts & part_reth) != 0) {
    writer.put(packet.length);
  }
  if ((parts & part_atomic_eth) != 0) {
    writer.put(packet.swap_or_add);
    writer.put(packet.compare);
  }
  if ((parts & part_aeth) != 0) {
    writer.put(std::uint32_t{packet.syndrome} << 24 | (packet.message_count & sequence_mask));
  }
  if ((parts & part_atomic_ack) != 0) {
    writer.put(packet.value_before);
  }
  if ((parts & part_imm) != 0) {
    writer.put(packet.immediate);
  }
  if ((parts & part_ieth) != 0) {
    writer.put(packet.invalidate_key);
  }
}

void take_extensions(Reader reader, Packet& packet, std::uint8_t parts) {
  if (parts == part_reth) {
    packet.address = reader.take<std::uint64_t>();
    packet.key = reader.take<std::uint32_t>();
    packet.length = reader.take<std::uint32_t>();
    return;
  }
  if ((parts & part_feth) != 0) {
    const auto type = reader.take<std::uint32_t>();
    packet.flush_placement = type & 0xf;
    packet.flush_select = type >> 4 & 0x3;
  }
  if ((parts & part_deth) != 0) {
    packet.key = reader.take<std::uint32_t>();
    packet.message_count = reader.take<std::uint32_t>() & sequence_mask;
  }
  if ((parts & (part_reth | part_atomic_eth)) != 0) {
    packet.address = reader.take<std::uint64_t>();
    packet.key = reader.take<std::uint32_t>();
  }
  if ((parts & part_reth) != 0) {
    packet.length = reader.take<std::uint32_t>();
  }
  if ((parts & part_atomic_eth) != 0) {
    packet.swap_or_add = reader.take<std::uint64_t>();
    packet.compare = reader.take<std::uint64_t>();
  }
  if ((parts & part_aeth) != 0) {
    const auto word = reader.take<std::uint32_t>();
    packet.syndrome = static_cast<std::uint8_t>(word >> 24);
    packet.message_count = word & sequence_mask;
  }
  if ((parts & part_atomic_ack) != 0) {
    packet.value_before = reader.take<std::uint64_t>();
  }
  if ((parts & part_imm) != 0) {
    packet.immediate = reader.take<std::uint32_t>();
  }
  if ((parts & part_ieth) != 0) {
    packet.invalidate_key = reader.take<std::uint32_t>();
  }
}

bool payload_fits(PacketPayload allowed, std::size_t size_bytes) {
  switch (allowed) {
    case PacketPayload::none:
      return size_bytes == 0;
    case PacketPayload::word:
      return size_bytes == word_bytes;
    case PacketPayload::placed:
      return size_bytes == placed_word_bytes;
    case PacketPayload::any:
      return true;
  }
  return false;
}

}  // namespace

std::size_t packet_bytes(PacketOpcode opcode, std::size_t payload_bytes) {
  return header_bytes(opcode) + payload_bytes + padding_of(payload_bytes);
}

void encode_headers(const Packet& packet, std::byte* out) {
  const PacketRow& row = row_of(packet.opcode);
  encode_base(packet, padding_of(packet.payload_bytes), out);
  // What most packets have, first.
  if (row.parts == part_reth) {
    encode_reth(packet, out + bth_bytes);
  } else {
    put_extensions(Writer(out + bth_bytes), packet, row.parts);
  }
}

Bytes encode(const Packet& packet, Bytes out) {
  encode_headers(packet, out.data());
  const std::size_t headers = header_bytes(packet.opcode);
  if (const std::uint32_t padding = padding_of(packet.payload_bytes); padding != 0) {
    std::memset(out.data() + headers + packet.payload_bytes, 0, padding);
  }
  return out.subspan(headers, packet.payload_bytes);
}

namespace {

// What the first word of a WRITE of one packet is when nothing about it is unusual: no padding, and
// all bits as they must be. Two may be either way: solicited, and the membership of its partition.
constexpr std::uint32_t straight_write_mask = 0xff7f'7fff;
constexpr std::uint32_t straight_write = static_cast<std::uint32_t>(PacketOpcode::write_only)
                                             << 24 |
                                         (default_partition & partition_mask);

[[gnu::always_inline]] inline void clear(Packet& packet) {
  // Cleared in place: a temporary would be stored in small pieces and loaded in large ones, for
  // which the processor waits until every older store, to cold memory too, has drained.
  static_assert(std::is_trivially_copyable_v<Packet>);
  std::memset(static_cast<void*>(&packet), 0, sizeof packet);
}

}  // namespace

bool parse(ConstBytes bytes, Parsed& out) {
  std::byte headers[largest_header_bytes];
  if (bytes.size() >= largest_header_bytes) [[likely]] {
    racy_copy(headers, bytes.first<largest_header_bytes>());
    const std::uint32_t first = swapped(load<std::uint32_t>(headers));
    constexpr std::size_t write_header_bytes = bth_bytes + reth_bytes;
    const std::size_t payload_bytes = bytes.size() - write_header_bytes;
    if ((first & straight_write_mask) == straight_write && payload_bytes % 4 == 0 &&
        payload_bytes <= UINT32_MAX) [[likely]] {
      const auto numbers = swapped(load<std::uint64_t>(headers + 4));
      const auto key_and_length = swapped(load<std::uint64_t>(headers + bth_bytes + 8));
      Packet& packet = out.packet;
      clear(packet);
      packet.opcode = PacketOpcode::write_only;
      packet.solicited = (first & 0x80'0000) != 0;
      packet.acknowledge_request = (numbers & 0x80000000) != 0;
      packet.queue_pair = static_cast<std::uint32_t>(numbers >> 32) & sequence_mask;
      packet.sequence = static_cast<std::uint32_t>(numbers) & sequence_mask;
      packet.key = static_cast<std::uint32_t>(key_and_length >> 32);
      packet.address = swapped(load<std::uint64_t>(headers + bth_bytes));
      packet.length = static_cast<std::uint32_t>(key_and_length);
      packet.payload_bytes = static_cast<std::uint32_t>(payload_bytes);
      out.payload = bytes.subspan(write_header_bytes);
      return true;
    }
  } else if (bytes.size() == acknowledge_bytes) {
    racy_copy(headers, bytes.first<acknowledge_bytes>());
  } else if (bytes.size() >= bth_bytes) {
    racy_copy(headers, bytes);
  } else {
    return false;
  }
  Reader reader(headers);
  const auto code = reader.take<std::uint8_t>();
  const auto flags = reader.take<std::uint8_t>();
  const auto partition = reader.take<std::uint16_t>();
  const auto queue_pair = reader.take<std::uint32_t>();
  const auto sequence = reader.take<std::uint32_t>();
  if (!is_packet_opcode(code) || (flags & 0x0f) != 0 ||
      (partition & partition_mask) != (default_partition & partition_mask)) {
    return false;
  }
  const PacketRow& row = packet_rows[code];
  const std::size_t padding = flags >> 4 & 3;
  if (bytes.size() < row.header_bytes + padding) {
    return false;
  }
  const std::size_t payload_bytes = bytes.size() - row.header_bytes - padding;
  if ((payload_bytes + padding) % 4 != 0 || payload_bytes > UINT32_MAX ||
      !payload_fits(row.payload, payload_bytes)) {
    return false;
  }
  Packet& packet = out.packet;
  clear(packet);
  packet.opcode = static_cast<PacketOpcode>(code);
  packet.solicited = (flags & 0x80) != 0;
  packet.acknowledge_request = (sequence & 0x80000000) != 0;
  packet.queue_pair = queue_pair & sequence_mask;
  packet.sequence = sequence & sequence_mask;
  packet.payload_bytes = static_cast<std::uint32_t>(payload_bytes);
  take_extensions(Reader(headers + bth_bytes), packet, row.parts);
  out.payload = bytes.subspan(row.header_bytes, payload_bytes);
  return true;
}

}  // namespace remora::fabric::nic
