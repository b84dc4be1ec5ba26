// FileAhead: sees to it that pages of a mapped file can be written without waiting, before they
// are.
//
// A file that was allocated and never written costs twice at its first write: the file system notes
// in its own records that the blocks now hold something, and every commit has to wait for those
// records as well as for the data. And a page that was written in an earlier life of the file is
// read from the disk before one byte of it is changed. Whoever is about to fill a range says so
// here; a thread of this object, started on first use, then writes such blocks once as they are, or
// reads them, a little at a time.
//
// No byte changes, whatever others store meanwhile. Nothing depends on it: a range that is not
// ready yet, or one too many to be remembered, is written as slowly as ever. Any thread may call.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>

#include "base/bytes.h"
#include "base/result.h"

namespace remora {

// Writes zeros to a file that is allocated and holds nothing yet, from its beginning, as far as it
// gets in that time: so the first commits of a new pool find blocks that were written once. They
// are on the disk when this returns, and in the kernel's cache, page by page.
[[nodiscard]] Status write_blocks(int descriptor, std::uint64_t size_bytes,
                                  std::chrono::milliseconds most);

class FileAhead {
 public:
  // The mapping is that of the descriptor's file, from its first byte; both outlive this.
  FileAhead(int descriptor, Bytes mapping)
      : descriptor_(descriptor), data_(mapping.data()), size_(mapping.size()) {}
  FileAhead(const FileAhead&) = delete;
  FileAhead& operator=(const FileAhead&) = delete;
  ~FileAhead();

  void prepare(ConstBytes range);
  // The mapping is so long from here on.
  void extend(std::size_t size_bytes) { size_.store(size_bytes, std::memory_order_release); }
  // Blocks until all that was asked for is done.
  void wait();

 private:
  struct Extent {
    std::size_t from = 0;
    std::size_t to = 0;
  };

  void work();
  bool start_thread();
  void prepare_piece(const Extent& piece) const;

  const int descriptor_;
  std::byte* const data_;  // of the mapping
  std::atomic<std::size_t> size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Extent> wanted_;
  bool working_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace remora
