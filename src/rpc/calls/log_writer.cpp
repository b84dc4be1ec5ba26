#include "rpc/calls/log_writer.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "rpc/calls/faults.h"

namespace remora::rpc::calls {

using log_format::EntryHead;

LogWriter::LogWriter(const LogEpoch& epoch, Bytes copy, const Faults& faults)
    : epoch_(epoch), copy_(copy), faults_(faults), next_(epoch.first), oldest_(epoch.first) {
  REMORA_CHECK(log_format::is_ring_size(copy.size()), "a ring of an impossible size");
}

bool LogWriter::has_room(std::uint64_t data_bytes) const {
  if (faults_.planted(faults::credit_ignored)) {
    return next_ < oldest_ + epoch_.window;
  }
  const std::uint64_t end = place(data_bytes) + log_format::footprint(epoch_.form, data_bytes);
  return next_ < oldest_ + epoch_.window && end - head_ <= copy_.size();
}

LogWriter::Entry LogWriter::append(std::uint32_t method, ConstBytes data, Sequence acknowledged) {
  REMORA_CHECK(is_possible(data.size()) && has_room(data.size()), "no room in the log");
  Entry entry{.sequence = next_, .begin = place(data.size())};
  const std::uint64_t size = log_format::footprint(epoch_.form, data.size());
  entry.end = entry.begin + size;
  const log_format::Place here{epoch_.session, epoch_.epoch, entry.begin};
  const EntryHead head{next_, acknowledged, method, static_cast<std::uint32_t>(data.size()), 0};
  const Bytes bytes = copy_.subspan(offset_of(entry.begin), size);
  std::memcpy(&bytes[log_format::head_at(epoch_.form)], &head, sizeof head);
  copy_bytes(bytes.data() + log_format::data_at(epoch_.form), data);
  // No bytes of an earlier lap travel.
  const std::uint64_t filled = log_format::data_at(epoch_.form) + data.size();
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(filled), bytes.end(), std::byte{0});
  if (epoch_.form == Form::ordered) {
    entry.word = log_format::ordered_word(here, head);
    std::fill_n(bytes.begin(), log_format::head_at(epoch_.form), std::byte{0});
  } else {
    store(&bytes[log_format::word_at(epoch_.form, data.size())],
          log_format::checksum_word(here, head, data));
  }
  tail_ = entry.end;
  ++next_;
  return entry;
}

bool LogWriter::freed(std::uint64_t head, Sequence sequence) {
  if (head < head_ || head > tail_ || sequence < oldest_ || sequence > next_) {
    return false;
  }
  head_ = head;
  oldest_ = sequence;
  return true;
}

}  // namespace remora::rpc::calls
