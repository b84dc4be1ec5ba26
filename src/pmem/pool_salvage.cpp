// Opening a pool of which checks fail, to save what is whole. Nothing here is persisted.
#include <algorithm>
#include <cstring>
#include <string>

#include "pmem/log_record.h"
#include "pmem/pool.h"
#include "pmem/pool_checks.h"

namespace remora {

using pool_format::Header;
using pool_format::RecordHead;
using pool_format::Root;
using namespace log_record;

Result<std::unique_ptr<Pool>> Pool::open_damaged(Region& region, std::string_view name,
                                                 PoolFindings& findings) {
  Header header{};
  if (region.size() >= pool_format::smallest_pool_bytes) {
    std::memcpy(&header, region.data(), sizeof header);
  }
  const Status verdict = pool_format::verify(header, region.size(), name);
  const bool whole =
      header.checksum == pool_format::checksum_of(header) && extensions_of(header).has_value();
  if (region.size() < pool_format::smallest_pool_bytes || verdict.code() == Code::unsupported ||
      (whole && !verdict.ok())) {
    return verdict.ok() ? Status(Code::damaged, std::string(name) + " is too small to be a pool")
                        : verdict;
  }
  const ConstBytes first_page = region.bytes().first(page_bytes);
  Result<PoolLayout> layout = PoolLayout::read(first_page, region.size(), name);
  if (!layout.ok() && PoolLayout::read(first_page, pool_format::largest_pool_bytes, name).ok()) {
    return layout.status();  // all that is wrong is where the file ends
  }
  if (!layout.ok()) {
    findings.push_back({0, "the header is damaged; its layout was made again from the size"});
    layout = PoolLayout::guess(first_page, region.size());
  }
  std::unique_ptr<Pool> pool(new Pool(region, *layout, Faults()));
  pool->salvage(findings);
  return pool;
}

void Pool::salvage(PoolFindings& findings) {
  log_.salvage(found_version_, findings);
  allocator_.salvage(region_.bytes(), found_version_, account_of_version_one(), findings);
  roots_.resize(header_.root_count);
  std::memcpy(roots_.data(), region_.data() + header_.roots, roots_.size() * sizeof(Root));
  for (std::size_t i = 0; i < roots_.size(); ++i) {
    if (roots_[i].in_use != 0) {
      const Status status = check_root(i);
      roots_total_ += share_of(root_place(i), roots_[i]);
      if (!status.ok()) {
        findings.push_back({root_place(i), std::string(status.message())});
      }
    }
  }
  const Status sum = is_old() ? Status() : check_total();
  if (!sum.ok()) {
    findings.push_back({pool_format::total_place(header_), std::string(sum.message())});
  }
  for (PoolFinding& finding : findings) {
    if (finding.what.ends_with(pool_format::remedy)) {
      finding.what.resize(finding.what.size() - pool_format::remedy.size());
    }
  }
  failure_ = Status(Code::damaged, "the pool is damaged and was opened for reading only");
}

Status Pool::adopt(Offset offset, std::uint64_t size_bytes) {
  if (offset % cache_line_bytes != 0 || offset < header_.blocks || size_bytes == 0 ||
      !within(offset, size_bytes, this->size_bytes())) {
    return Status(Code::invalid_argument, "no object can be there");
  }
  adopted_.push_back({offset, size_bytes});
  return Status();
}

std::uint64_t Pool::adopted_bytes(Offset offset) const {
  const auto found = std::ranges::find(adopted_, offset, &Adopted::offset);
  return found == adopted_.end() ? 0 : found->size_bytes;
}

// Without the mark, records that are retired are replayed too. Their words in objects may belong to
// somebody else by now; those in the pool's own structures are put right again by later records.
void RedoLog::salvage(std::uint32_t found_version, std::vector<PoolFinding>& findings) {
  version_ = found_version;
  const auto epoch = control_value(pool_format::ControlWord::epoch, control_->epoch, version_);
  auto retired = control_value(pool_format::ControlWord::retired, control_->retired, version_);
  epoch_ = epoch.value_or(0);
  std::uint64_t newest_epoch = epoch_;
  for_each_record([&](std::uint64_t, const RecordHead& head) {
    newest_epoch = std::max(newest_epoch, head.epoch);
  });
  if (!epoch || !retired || newest_epoch != epoch_) {
    findings.push_back({header_.log_control, "log control is damaged"});
    retired = newest_epoch == epoch_ ? retired : std::nullopt;
    epoch_ = newest_epoch;
  }
  std::uint64_t first = ~std::uint64_t{0};
  std::uint64_t last = 0;
  for_each_record([&](std::uint64_t, const RecordHead& head) {
    first = std::min(first, head.sequence);
    last = std::max(last, head.sequence);
  });
  if (retired && last > *retired + header_.log_slot_count) {
    findings.push_back({header_.log_control, "the mark of the log is older than its records"});
    retired = std::nullopt;
  }
  if (last >= header_.log_slot_count) {
    first = std::max(first, last - header_.log_slot_count + 1);
  }
  for (std::uint64_t sequence = retired ? *retired + 1 : first; sequence <= last; ++sequence) {
    if (counts(sequence)) {
      retired ? apply(sequence) : apply_structures(sequence);
    } else if (is_vouched_for(sequence)) {
      findings.push_back({static_cast<Offset>(slot(sequence) - region_.data()),
                          "record " + std::to_string(sequence) + " of the log is damaged"});
    } else {
      break;
    }
  }
  next_ = last + 1;
  in_place_ = retired_ = last;
}

void RedoLog::apply_structures(std::uint64_t sequence) {
  const std::byte* const place = slot(sequence);
  for (std::size_t i = 0; i < head_of(place).writes; ++i) {
    const pool_format::Write write = write_at(place, i);
    if (write.place < header_.blocks || layout_.is_structure(write.place)) {
      store(region_.data() + write.place, write.value);
    }
  }
}

}  // namespace remora
