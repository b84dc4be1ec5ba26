// The persistent memory of a modelled machine, as its cores write lines back to it.
//
// A line is dirty when the NIC placed something there, a core copied something there, or it differs
// from when it was written back last: what the NIC places goes to the caches (DDIO). A dirty line
// keeps its core for flush_line_ns, and the medium for as long as its write bandwidth says; a clean
// one keeps the core alone, for flush_clean_line_ns. All cores of the machine share that bandwidth:
// a core is done when the medium has taken what it wrote, and what others wrote before.
//
// One thread, the loop's. What is handed in outlives it.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "base/bytes.h"
#include "fabric/nic/wire/sim/profile.h"
#include "host/write_back.h"

namespace remora::store_bench {

// The medium's write bandwidth. Calls do not come in the order of their times: a core that is
// charged for a checksum and then for a write-back asks for a time in the future. Another core may
// write before that, as long as the medium is free.
class Medium {
 public:
  explicit Medium(std::uint64_t write_bytes_per_s) : write_bytes_per_s_(write_bytes_per_s) {}

  // Takes so many bytes, which come at `at_ns`, in one piece or between those that are known of
  // already; returns when it has taken them.
  std::uint64_t taken_at_ns(std::uint64_t bytes, std::uint64_t at_ns);
  // The time for which it has been busy, or will have been.
  std::uint64_t busy_ns() const { return busy_ns_; }

 private:
  struct Span {
    std::uint64_t begin_ns = 0;
    std::uint64_t end_ns = 0;
  };

  void take(const Span& span);

  const std::uint64_t write_bytes_per_s_;
  std::vector<Span> taken_;  // the latest, ascending; between two of them it is free
  std::uint64_t busy_ns_ = 0;
};

// Of one region on a medium: which of its lines are dirty, and what it costs to write them back.
class CachedLines final : public WriteBack {
 public:
  // The region is all zero, and none of it is dirty.
  CachedLines(const fabric::nic::sim::MemoryProfile& memory, ConstBytes region, Medium& medium);

  // The NIC has placed these bytes, or a core has copied them. Those outside of the region are not
  // its concern.
  void changed(ConstBytes range) override;

  std::uint64_t write_back_ns(ConstBytes range, std::uint64_t at_ns) override;

  std::uint64_t dirty_lines() const { return dirty_lines_; }  // that were written back
  std::uint64_t clean_lines() const { return clean_lines_; }  // for which somebody asked

 private:
  struct Free {
    void operator()(std::uint32_t* lines) const { std::free(lines); }
  };

  std::uint64_t begin_of(ConstBytes range) const;
  std::uint64_t end_of(ConstBytes range) const;
  std::uint32_t content_of(std::uint64_t line) const;

  const fabric::nic::sim::MemoryProfile memory_;
  const ConstBytes region_;
  Medium& medium_;
  // By line: the checksum of what the medium has, and a bit for what has changed since. From
  // calloc, so that lines nobody touches take no memory.
  std::unique_ptr<std::uint32_t[], Free> lines_;
  std::uint64_t dirty_lines_ = 0;
  std::uint64_t clean_lines_ = 0;
};

}  // namespace remora::store_bench
