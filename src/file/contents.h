// Contents: the bytes of files. Blocks are found in the file's tree of extents, and new ones in
// DRAM until a round has recorded them:
//
//   write     copies into blocks that are there, or into fresh ones; the bytes are visible
//   begin     a round drains what was placed so far; size and fresh blocks of that moment are its
//   finish    when the drain is persistent: one record for each fresh run, in the order of offsets,
//             with as much of the size as they hold
//
// What lies behind the size in blocks that are there is undefined, on the medium and in memory: so
// what a file grows by is zeroed when it grows, and never before.
#pragma once

#include "file/core.h"
#include "file/rights.h"
#include "file/volume.h"

namespace remora::file {

class Contents {
 public:
  explicit Contents(Core& core) : core_(core) {}

  Outcome<std::uint64_t> read(Live& live, std::uint64_t offset, Bytes to, std::uint64_t now_ns);
  Outcome<Written> write(const Caller& caller, Live& live, std::uint64_t offset, ConstBytes from);
  Errno truncate(const Caller& caller, Live& live, std::uint64_t size);
  Errno allocate(const Caller& caller, Live& live, std::uint64_t offset, std::uint64_t size,
                 bool keep_size);
  Errno punch(const Caller& caller, Live& live, std::uint64_t offset, std::uint64_t size);
  Outcome<ConstBytes> map(Live& live, std::uint64_t offset);

  Outcome<Receipt> fsync(Live& live);
  bool persistent(Live& live, std::uint64_t round);
  Errno wait(Live& live, std::uint64_t round);
  // Finishes the round whose drain is persistent, and begins the next that is wanted or due.
  Errno tend(Live& live);
  // Records what is visible, times among that. Blocks.
  Errno settle(Live& live);

  // Moves extents together (move.cpp).
  Outcome<std::uint64_t> defragment(Live& live, std::uint64_t most_extents);

  // --- The end of a file (cut.cpp).
  // Adds to the change that all of the file is freed, itself too. The change is too large when it
  // has more than one record holds.
  Errno add_free(Change& change, Live& live);
  // Frees a file on the list of orphans, in steps. The Live is gone afterwards.
  Errno reap(Live& live);
  // Frees the blocks behind the size of a file on the list, in steps, and takes it off.
  Errno resume_cut(Live& live);
  // Gives back what was not recorded.
  void drop_fresh(Live& live, std::uint64_t from_block);

 private:
  struct Segment {
    Offset place = 0;  // 0: a hole
    std::uint64_t blocks = 0;
  };

  Outcome<Segment> find(Live& live, std::uint64_t block);
  Outcome<Segment> take_run(Live& live, std::uint64_t block, std::uint64_t blocks);
  Errno zero(Live& live, std::uint64_t from, std::uint64_t to);
  void zero_bytes(Offset place, std::uint64_t size);
  void touch(const Caller& caller, Live& live);
  Errno strip(const Caller& caller, Live& live);

  void begin(Live& live);
  Errno finish(Live& live);
  Errno record_run(Live& live, std::uint64_t block, const Fresh& fresh, bool last);
  Errno add_extent(TreeEdit& tree, Live& live, const Entry& extent);
  Errno record_rest(Live& live);

  // Adds to the change that up to so many runs from this block on are freed, the last ones first.
  // Whether there are more. `frees` is the same change.
  Outcome<bool> add_cut(Change& change, Change& frees, Live& live, std::uint64_t from_block,
                        std::size_t most);
  Outcome<Offset> whole_run(Live& live, const Entry& extent, std::uint64_t blocks,
                            std::uint64_t from_block);
  Errno cut(Live& live, std::uint64_t from_block, std::uint64_t size);
  Outcome<bool> cut_step(Live& live, std::uint64_t from_block, std::uint64_t size,
                         std::size_t most);
  Outcome<bool> reap_step(Live& live, std::size_t most);
  void add_rest(Change& change, Live& live);
  Errno punch_extent(Live& live, const Entry& extent, std::uint64_t from, std::uint64_t to);
  Errno punch_fresh(Live& live, std::uint64_t from, std::uint64_t to);
  Errno split_run_at(Offset place);

  Core& core_;
};

}  // namespace remora::file
