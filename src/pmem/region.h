// Region: a range of memory that can be made persistent, and the words in which all of Remora asks
// for it. What stands behind one (a DAX mapping, an ordinary file, plain memory, the crash world)
// is chosen once, when it is opened.
//
//   flush   takes these lines, as they are now, on their way to the medium. No order, no promise.
//   drain   closes what this actor flushed so far and returns a Ticket for it.
//   ticket  is persistent once everything flushed before its drain would survive a power cut.
//
// On byte and cache-line media a ticket is persistent when drain returns. On page media (an
// ordinary file) it becomes so with the next group commit: many tickets share one msync. Code that
// needs order between two writes therefore waits for the first ticket before it makes the second
// write, or writes in such a way that recovery needs no order (checksums).
//
// Threads: flush, drain and copy may be called by any thread; a drain covers at least what the
// calling thread flushed. A word that another thread stores to meanwhile becomes persistent as it
// was or as it is then; nobody else copies to the range.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace remora {

// The place in the source that asked for persistence. Every call carries its own, so that the crash
// world can mute one call at a time. Helpers take a Site from their caller and pass it on.
using Site = std::source_location;

// The smallest unit that the medium makes persistent, in the sense of libpmem2.
enum class Granularity : std::uint8_t {
  byte,        // CPU caches are inside the persistence domain: visible is persistent
  cache_line,  // lines must be written back
  page,        // pages must be written by the operating system
};

std::string_view to_string(Granularity granularity);

struct Ticket {
  std::uint64_t commit = 0;  // 0: persistent already
};

// How a region is made persistent, and why in that way: for people.
struct Strategy {
  Granularity granularity = Granularity::cache_line;
  bool survives_power_cut = false;
  std::string method;  // "clwb + sfence", "msync, group commit"
  std::string reason;  // why this method, and why it does or does not survive
};

// The file whose shared mapping a region is: what another process can map too.
struct Backing {
  int descriptor = -1;       // the region's own; whoever passes it on passes a copy
  std::uint64_t offset = 0;  // of the region's first byte
};

class Region {
 public:
  Region() = default;
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  virtual ~Region() = default;

  virtual Bytes bytes() = 0;
  virtual const Strategy& strategy() const = 0;

  // Nothing where no other process could see the same bytes.
  virtual std::optional<Backing> backing() const { return std::nullopt; }

  std::byte* data() { return bytes().data(); }
  std::size_t size() { return bytes().size(); }
  Granularity granularity() const { return strategy().granularity; }

  // Starts the way of `range` to the medium, as it is at this moment. The range must lie within
  // bytes(); an empty one does nothing.
  virtual void flush(ConstBytes range, Site site = Site::current()) = 0;

  // The ticket for all that was flushed before.
  [[nodiscard]] virtual Ticket drain(Site site = Site::current()) = 0;

  // Copies and flushes, past the caches where that is faster. The ranges must not overlap.
  virtual void copy(std::byte* to, ConstBytes from, Site site = Site::current()) = 0;

  // Whether there is copy_line: not every processor has an instruction for it.
  virtual bool copies_lines() const { return false; }
  // Copies one line, aligned, as copy does and as a whole: nobody sees a part of it, nor does a cut
  // leave one. Requires copies_lines().
  virtual void copy_line(std::byte* to, const std::byte* from, Site site = Site::current()) {
    copy(to, ConstBytes(from, cache_line_bytes), site);
  }

  // flush and drain.
  [[nodiscard]] virtual Ticket persist(ConstBytes range, Site site = Site::current()) {
    flush(range, site);
    return drain(site);
  }

  // Whether the ticket is persistent. Never blocks. Tickets that are not when the region fails
  // never will be.
  virtual bool persistent(Ticket ticket) const = 0;

  // Blocks until the ticket is persistent, committing if need be. A failure is final: the region
  // takes no further commits, since after a failed write-back nobody knows what the medium holds.
  [[nodiscard]] virtual Status wait(Ticket ticket) = 0;

  // Success, or why the region has failed for good. Never blocks.
  virtual Status failure() const { return Status(); }

  // Whether a part of it is gone (base/lost_memory.h): it has failed, and what was read of it may
  // be wrong. Asked between reading and telling.
  virtual bool lost() const { return false; }

  // Asks for a commit of the ticket without blocking; persistent() will tell.
  virtual void request(Ticket ticket) = 0;

  // Makes persistent what is to be seen in this range, though nobody who lives has stored it: a
  // process that was killed may have left it in the processor's caches. For who opens what is
  // there.
  [[nodiscard]] virtual Status persist_found(ConstBytes range) { return wait(persist(range)); }

  // bytes() is so long from here on, and begins where it began: what others have of it stays good,
  // and they may go on meanwhile. For a file that is that long by now (FileHandle::extend). Fails
  // with `unsupported` where a region cannot, no_space where the process has no addresses behind
  // it; nothing changes then. By one thread at a time.
  [[nodiscard]] virtual Status extend(std::uint64_t /*size_bytes*/) {
    return Status(Code::unsupported, "this memory cannot become larger");
  }

  // This range will be filled soon, from its beginning: a hint, which changes no byte.
  virtual void prepare(ConstBytes /*range*/) {}

  // Calls `ended` after every commit from now on, also after one that failed, on whichever thread
  // made it; nothing takes it back. When this returns, what was given before is not called any
  // more. False where commits are not told of, and who waits has to look.
  virtual bool on_commit(std::function<void()> /*ended*/) { return false; }
};

}  // namespace remora
