// FileRegion: an ordinary file, mapped. The operating system writes its pages back; a ticket is
// persistent after the group commit (one msync for all who wait) that covers it.
//
// After a failed msync the kernel may hold pages that the disk never got and take them for clean.
// The region then drops them when it is destroyed, so that whoever opens the file next reads the
// disk and not that memory. msync says nothing of a file that was cut short, and of pages that are
// gone with its end: every commit looks for that too.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <utility>

#include "base/lost_memory.h"
#include "pmem/file_ahead.h"
#include "pmem/file_commit.h"
#include "pmem/mapping.h"
#include "pmem/region.h"

namespace remora {

class FileRegion final : public Region {
 public:
  // The descriptor is that of the mapped file and must outlive the region.
  FileRegion(Mapping mapping, int descriptor, Strategy strategy);
  // The same with another way to sync, so that tests can have a disk that fails.
  FileRegion(Mapping mapping, int descriptor, Strategy strategy, FileCommit::Sync sync);
  ~FileRegion() override;

  Bytes bytes() override { return Bytes(data_, size_.load(std::memory_order_acquire)); }
  const Strategy& strategy() const override { return strategy_; }
  std::optional<Backing> backing() const override { return Backing{descriptor_, 0}; }
  void flush(ConstBytes range, Site) override { commit_.add(range); }
  [[nodiscard]] Ticket drain(Site) override { return commit_.draw(); }
  void copy(std::byte* to, ConstBytes from, Site site) override;
  // All of the file was synced when it was opened.
  [[nodiscard]] Status persist_found(ConstBytes) override { return Status(); }
  bool persistent(Ticket ticket) const override { return commit_.persistent(ticket); }
  [[nodiscard]] Status wait(Ticket ticket) override;
  void request(Ticket ticket) override { commit_.request(ticket); }
  Status failure() const override { return lost() ? lost_memory_failure() : commit_.failure(); }
  bool lost() const override { return watched_->lost(); }
  void prepare(ConstBytes range) override { ahead_->prepare(range); }
  [[nodiscard]] Status extend(std::uint64_t size_bytes) override;
  bool on_commit(std::function<void()> ended) override {
    commit_.tell(std::move(ended));
    return true;
  }

  std::uint64_t syncs() const { return commit_.syncs(); }

 private:
  int sync(const FileCommit::Sync& sync_pages, std::byte* from, std::size_t size) const;
  bool is_cut_short() const;

  std::optional<Mapping> mapping_;
  std::byte* const data_;
  std::atomic<std::size_t> size_;
  std::optional<WatchedMemory> watched_;  // until it is unmapped
  const int descriptor_;
  Strategy strategy_;
  FileCommit commit_;
  std::optional<FileAhead> ahead_;
};

}  // namespace remora
