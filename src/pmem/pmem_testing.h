// For the tests of this layer: memory with a medium behind it, folders that go away again, and
// processes that vanish. One thread, but for FakeRegion.
#pragma once

#include <linux/magic.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/folder_testing.h"
#include "base/racy_copy.h"
#include "pmem/pool_format.h"
#include "pmem/region.h"

namespace remora {

inline constexpr pool_format::Uuid no_uuid = {};

inline std::string content_of(const std::string& path) {
  // At once: byte by byte, ThreadSanitizer takes minutes for a large file.
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::string content(static_cast<std::size_t>(std::max<std::streamoff>(file.tellg(), 0)), '\0');
  file.seekg(0);
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  return content;
}

// Plain memory and, apart from it, the medium: what a power cut would leave. On page granularity
// nothing becomes persistent before commit() or wait(). Several threads may flush, drain and wait,
// as a server and its worker do; a drain covers what its own thread has flushed, and nothing else.
class FakeRegion final : public Region {
 public:
  FakeRegion(std::uint64_t size_bytes, Granularity granularity)
      : memory_(size_bytes),
        strategy_{granularity, true, "a copy", "the tests keep both images"},
        medium_(size_bytes) {}

  Bytes bytes() override { return memory_; }
  const Strategy& strategy() const override { return strategy_; }

  void flush(ConstBytes range, Site = Site::current()) override {
    const std::scoped_lock hold(guard_);
    if (!range.empty() && !stays_in_caches_) {
      const auto from = static_cast<std::size_t>(range.data() - memory_.data());
      REMORA_CHECK(within(from, range.size(), memory_.size()), "flushed outside of the region");
      flushed_.push_back({::gettid(), from, std::vector<std::byte>(range.size())});
      // Another thread may store there, as beside a real flush.
      racy_copy_words(flushed_.back().bytes, range);
    }
  }
  [[nodiscard]] Ticket drain(Site = Site::current()) override {
    const std::scoped_lock hold(guard_);
    if (granularity() == Granularity::page) {
      return Ticket{open_};
    }
    write_back_own();
    return Ticket{};
  }
  void copy(std::byte* to, ConstBytes from, Site site = Site::current()) override {
    std::memcpy(to, from.data(), from.size());
    flush(ConstBytes(to, from.size()), site);
  }
  bool persistent(Ticket ticket) const override { return ticket.commit < open_; }
  [[nodiscard]] Status wait(Ticket ticket) override {
    if (!persistent(ticket)) {
      ++blocked_;
      commit();
    }
    return persistent(ticket) ? Status() : Status(Code::io_error, "the medium failed");
  }
  void request(Ticket ticket) override {
    if (persistent(ticket)) {
      return;
    }
    ++requests_;
    if (commits_when_asked_) {
      commit();
    } else if (asked_) {
      asked_();
    }
  }
  bool on_commit(std::function<void()> ended) override {
    ended_ = std::move(ended);
    return tells_;
  }

  // One group commit, unless the medium has failed; its end is told of either way.
  void commit() {
    {
      const std::scoped_lock hold(guard_);
      if (!failed_) {
        write_back();
        ++open_;
      }
    }
    if (tells_ && ended_) {
      ended_();
    }
  }
  // A power cut: only what is persistent is still there.
  void cut() {
    const std::scoped_lock hold(guard_);
    if (granularity() != Granularity::byte) {
      memory_ = medium_;
    }
    flushed_.clear();
  }
  // From here on flushes do nothing: what is stored is as if its process were killed before them.
  void keep_in_caches(bool keep) { stays_in_caches_ = keep; }
  // From here on request() commits at once.
  void commit_when_asked() { commits_when_asked_ = true; }
  // From here on request() calls this instead.
  void when_asked(std::function<void()> asked) { asked_ = std::move(asked); }
  // From here on the end of every commit is told of.
  void tell_of_commits() { tells_ = true; }
  std::uint64_t commits() const { return open_ - 1; }
  // No commit works from here on.
  void fail() { failed_ = true; }
  Status failure() const override {
    return failed_ ? Status(Code::io_error, "the medium failed") : Status();
  }

  // How often wait() had to commit, and how often request() was asked to.
  std::uint64_t blocked() const { return blocked_; }
  std::uint64_t requests() const { return requests_; }

 private:
  struct Snapshot {
    pid_t by;
    std::size_t from;
    std::vector<std::byte> bytes;
  };

  // With the guard held, all three.
  void write_back() {
    for (const Snapshot& snapshot : flushed_) {
      copy_to(medium_, 0, snapshot);
    }
    flushed_.clear();
  }
  // Of a line that is on the medium, no other thread has anything older to write any more.
  void write_back_own() {
    const auto is_own = [own = ::gettid()](const Snapshot& snapshot) { return snapshot.by == own; };
    for (std::size_t i = 0; i < flushed_.size(); ++i) {
      if (is_own(flushed_[i])) {
        copy_to(medium_, 0, flushed_[i]);
        for (Snapshot& before : std::span(flushed_).first(i)) {
          if (!is_own(before)) {
            copy_to(before.bytes, before.from, flushed_[i]);
          }
        }
      }
    }
    std::erase_if(flushed_, is_own);
  }
  // What of it falls into `to`, which begins at `begin` of the region.
  static void copy_to(std::vector<std::byte>& to, std::size_t begin, const Snapshot& snapshot) {
    const std::size_t first = std::max(begin, snapshot.from);
    const std::size_t end = std::min(begin + to.size(), snapshot.from + snapshot.bytes.size());
    if (first < end) {
      std::memcpy(to.data() + (first - begin), snapshot.bytes.data() + (first - snapshot.from),
                  end - first);
    }
  }

  std::vector<std::byte> memory_;
  Strategy strategy_;
  std::mutex guard_;  // of the medium and of what was flushed to it
  std::vector<std::byte> medium_;
  std::vector<Snapshot> flushed_;
  std::atomic<std::uint64_t> open_ = 1;
  std::atomic<std::uint64_t> blocked_ = 0;
  std::atomic<std::uint64_t> requests_ = 0;
  std::atomic<bool> stays_in_caches_ = false;
  std::atomic<bool> commits_when_asked_ = false;
  std::atomic<bool> failed_ = false;
  bool tells_ = false;
  std::function<void()> ended_;
  std::function<void()> asked_;
};

// A place for test folders in memory, which every Linux has.
inline std::filesystem::path memory_place() {
  return "/dev/shm";
}

// A place on a disk; none when both candidates are file systems in memory.
inline std::optional<std::filesystem::path> disk_place() {
  for (const auto& place :
       {std::filesystem::temp_directory_path(), std::filesystem::current_path()}) {
    struct statfs facts {};
    if (statfs(place.c_str(), &facts) == 0 && facts.f_type != TMPFS_MAGIC &&
        facts.f_type != RAMFS_MAGIC) {
      return place;
    }
  }
  return std::nullopt;
}

// Runs `body` in a process of its own, which vanishes without any clean-up when `body` returns.
// What it returned (0 to 255), or minus the signal that ended it.
inline int in_child(const std::function<int()>& body) {
  const pid_t child = fork();
  REMORA_CHECK(child >= 0, "cannot fork");
  if (child == 0) {
    _exit(body());
  }
  int status = 0;
  REMORA_CHECK(waitpid(child, &status, 0) == child, "cannot wait for the child");
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace remora
