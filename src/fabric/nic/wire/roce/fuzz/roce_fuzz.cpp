// What the roce wire makes of a piece of memory from its socket. The first byte chooses the family,
// whether the peer counts as rxe does, and whether checksums are put right, so that chance gets
// past them; the next two are the size of a datagram. What counts as a packet must be one to the
// end.
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "fabric/nic/packet/packet.h"
#include "fabric/nic/wire/roce/datagram.h"
#include "fabric/nic/wire/roce/roce_limits.h"

namespace remora::fabric::nic::roce {
namespace {

constexpr std::size_t largest_packet = 1024 + 64;
constexpr std::size_t head_bytes = 3;

struct RoceFuzzFamily {
  RoceFuzzFamily(Icrc::Family family, const char* from, const char* to)
      : icrc(family, largest_packet),
        path(icrc.path({parse_address(from).value(), limits::udp_port},
                       {parse_address(to).value(), limits::udp_port})) {}
  Icrc icrc;
  Icrc::Path path;
};

void put_right(const RoceFuzzFamily& family, bool rxe, Bytes datagram, std::uint16_t index) {
  constexpr std::size_t smallest = 12 + limits::icrc_bytes;
  if (datagram.size() < smallest || datagram.size() % 4 != 0 ||
      datagram.size() > largest_packet + limits::icrc_bytes) {
    return;
  }
  const Bytes packet = datagram.first(datagram.size() - limits::icrc_bytes);
  const std::uint32_t right = family.icrc.of(family.path, packet, index);
  store(packet.data() + packet.size(),
        has_odd_icrc(rxe, packet) ? Icrc::twice(right, packet) : right);
}

void fuzz_memory(const RoceFuzzFamily& family, bool rxe, bool repair, Bytes bytes,
                 std::size_t segment_bytes) {
  Datagrams datagrams(bytes, segment_bytes);
  const std::size_t count = datagrams.count();
  std::size_t seen = 0;
  std::size_t used = 0;
  for (; !datagrams.empty(); ++seen) {
    const std::uint16_t guess = datagrams.taken();
    const ConstBytes datagram = datagrams.take();
    REMORA_CHECK(datagram.data() == bytes.data() + used && !datagram.empty(), "a gap");
    if (repair) {
      put_right(family, rxe, bytes.subspan(used, datagram.size()), guess);
    }
    used += datagram.size();
    const Verdict verdict =
        judge_datagram(family.icrc, largest_packet, {family.path, rxe}, datagram, guess);
    if (verdict != Verdict::packet) {
      continue;
    }
    const ConstBytes packet = datagram.first(datagram.size() - limits::icrc_bytes);
    Parsed parsed;
    if (parse(packet, parsed)) {
      REMORA_CHECK(packet_bytes(parsed.packet.opcode, parsed.payload.size()) == packet.size(),
                   "a packet takes as many bytes as it was parsed from");
    }
  }
  REMORA_CHECK(used == bytes.size() && seen == count, "bytes were left out");
}

}  // namespace
}  // namespace remora::fabric::nic::roce

#ifdef REMORA_ROCE_CORPUS
#define REMORA_ROCE_FUZZ_ENTRY roce_fuzz_one
int roce_fuzz_one(const std::uint8_t* data, std::size_t size);
#else
#define REMORA_ROCE_FUZZ_ENTRY LLVMFuzzerTestOneInput
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
#endif

int REMORA_ROCE_FUZZ_ENTRY(const std::uint8_t* data, std::size_t size) {
  using namespace remora;
  using namespace remora::fabric::nic::roce;
  static const RoceFuzzFamily v4(Icrc::Family::v4, "192.0.2.1", "192.0.2.2");
  static const RoceFuzzFamily v6(Icrc::Family::v6, "fd00::1", "fd00::2");
  if (size <= head_bytes) {
    return 0;
  }
  const auto all = std::as_bytes(std::span(data, size));
  const std::size_t segment_bytes = load<std::uint16_t>(all.data() + 1);
  std::vector<std::byte> bytes(all.begin() + head_bytes, all.end());
  const bool rxe = (data[0] & 2) != 0;
  const bool repair = (data[0] & 4) != 0;
  fuzz_memory((data[0] & 1) != 0 ? v6 : v4, rxe, repair, bytes,
              segment_bytes == 0 ? bytes.size() : segment_bytes);
  return 0;
}
