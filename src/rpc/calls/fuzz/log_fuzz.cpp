#include <algorithm>
#include <array>
#include <cstring>

#include "base/check.h"
#include "rpc/calls/fuzz/calls_fuzz.h"
#include "rpc/calls/log_reader.h"

namespace remora {

namespace log_fuzz {

using namespace rpc::calls;
using log_format::EntryHead;

constexpr std::uint64_t ring_bytes = log_format::smallest_ring_bytes;
using Ring = std::array<std::byte, ring_bytes>;

// What a fuzzer would not find by itself: so many entries, from the first on, get the words that
// they need, whatever else they say.
void repair(Ring& ring, const LogEpoch& epoch, unsigned entries) {
  std::uint64_t position = 0;
  for (unsigned i = 0; i < entries; ++i) {
    const std::uint64_t at = position % ring_bytes;
    if (ring_bytes - at < log_format::footprint(epoch.form, 0)) {
      return;
    }
    EntryHead head;
    std::memcpy(&head, &ring[at + log_format::head_at(epoch.form)], sizeof head);
    const std::uint64_t size = log_format::footprint(epoch.form, head.data_bytes);
    if (size > ring_bytes - at) {
      return;
    }
    const log_format::Place place{epoch.session, epoch.epoch, position};
    const ConstBytes data =
        ConstBytes(ring).subspan(at + log_format::data_at(epoch.form), head.data_bytes);
    store(&ring[at + log_format::word_at(epoch.form, head.data_bytes)],
          epoch.form == Form::ordered ? log_format::ordered_word(place, head)
                                      : log_format::checksum_word(place, head, data));
    position += size;
  }
}

}  // namespace log_fuzz

int fuzz_log(const std::uint8_t* data, std::size_t size) {
  using namespace rpc::calls;
  if (size == 0) {
    return 0;
  }
  log_fuzz::Ring ring{};
  std::memcpy(ring.data(), data + 1, std::min(size - 1, ring.size()));
  const LogEpoch epoch{.session = 7,
                       .epoch = 3,
                       .form = (data[0] & 1) != 0 ? Form::ordered : Form::checksum,
                       .window = 16};
  log_fuzz::repair(ring, epoch, data[0] >> 1);
  LogReader reader(epoch, ring, 0, 1);
  std::uint64_t before = 0;
  for (Sequence sequence = 1; sequence < 2 * ring.size() / cache_line_bytes; ++sequence) {
    const std::optional<LogEntry> entry = reader.next();
    if (!entry) {
      break;
    }
    REMORA_CHECK(entry->sequence == sequence && entry->acknowledged < sequence,
                 "an entry is out of order");
    REMORA_CHECK(entry->begin >= before && entry->end > entry->begin &&
                     entry->end - entry->begin <= ring.size() / 4,
                 "an entry has no place");
    const std::byte* const from = entry->data.data();
    REMORA_CHECK(from >= ring.data() && entry->data.size() <= ring.size() &&
                     from + entry->data.size() <= ring.data() + ring.size(),
                 "data lies outside of the ring");
    before = entry->end;
  }
  REMORA_CHECK(reader.position() == before, "a reader goes past what it found");
  return 0;
}

}  // namespace remora

#ifdef REMORA_FUZZER
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return remora::fuzz_log(data, size);
}
#endif
