// The two rules of thumb of the committer (host/committer.h), apart from all that carries them out.
//
// CommitGather: when a commit begins that replies wait for. A commit takes long, and a client that
// asks while it runs has to wait for the next. So where several clients ask again and again, the
// next one waits a while for those whom the last one has answered: else they would fall into two
// groups, each of which waits for the other's commit. It waits for less than that would cost them:
// a part of the time that the last one took.
//
// LoopCommits: whether the loop makes it itself, where it seems that nobody would notice. It is
// noticed when somebody who waits for no commit has asked meanwhile, or when it took too long: then
// another thread makes those that follow, for a while.
//
// One thread, the loop's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace remora {

class CommitGather {
 public:
  // How long a commit waits for those whom the last one has answered: three quarters of the time
  // that this took, within these bounds.
  static constexpr std::uint64_t shortest_patience_ns = 40'000;
  static constexpr std::uint64_t longest_patience_ns = 1'000'000;

  // Whether a commit for so many replies is to begin now, or when at the latest.
  bool is_time(std::size_t waiting, std::uint64_t now_ns) const {
    return waiting >= expected_ || now_ns >= latest_ns_;
  }
  std::uint64_t latest_ns() const { return latest_ns_; }

  void began(std::uint64_t now_ns) { began_ns_ = now_ns; }
  // A commit has answered some; others wait for the next. What one took that began elsewhere is not
  // known.
  void ended(std::size_t answered, std::size_t waiting, std::uint64_t now_ns) {
    expected_ = answered + waiting;
    const std::uint64_t took_ns = now_ns - std::exchange(began_ns_, now_ns);
    latest_ns_ = now_ns + std::clamp(took_ns / 4 * 3, shortest_patience_ns, longest_patience_ns);
  }

 private:
  std::size_t expected_ = 1;
  std::uint64_t began_ns_ = 0;
  std::uint64_t latest_ns_ = 0;
};

class LoopCommits {
 public:
  // A commit that the loop should not have waited for.
  static constexpr std::uint64_t too_long_ns = 50'000'000;
  // So many commits are another thread's after one that was noticed.
  static constexpr std::uint32_t elsewhere = 64;

  // Whether the loop may make the commit that begins now.
  bool is_next() {
    if (elsewhere_ != 0) {
      --elsewhere_;
      return false;
    }
    return true;
  }
  // The loop has made one, and looks for the first time.
  void looked(bool was_noticed, std::uint64_t took_ns) {
    if (was_noticed || took_ns > too_long_ns) {
      elsewhere_ = elsewhere;
    }
  }

 private:
  std::uint32_t elsewhere_ = 0;
};

}  // namespace remora
