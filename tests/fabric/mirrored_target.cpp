#include "tests/fabric/mirrored_target.h"

#include <algorithm>

#include "base/random.h"
#include "pmem/open_region.h"
#include "tests/fabric/crash_target.h"

namespace remora::fabric::contract {

namespace {

// One actor's way to the mirror.
class MirroredRegion final : public Region {
 public:
  MirroredRegion(Bytes bytes, std::optional<Backing> backing, CrashMemory& mirror)
      : bytes_(bytes), backing_(backing), mirror_(mirror), actor_(mirror) {}

  Bytes bytes() override { return bytes_; }
  const Strategy& strategy() const override { return actor_.strategy(); }
  std::optional<Backing> backing() const override { return backing_; }

  void flush(ConstBytes range, Site site = Site::current()) override {
    take_over();
    actor_.flush(there(range), site);
  }
  [[nodiscard]] Ticket drain(Site site = Site::current()) override {
    take_over();
    return actor_.drain(site);
  }
  void copy(std::byte* to, ConstBytes from, Site site = Site::current()) override {
    std::ranges::copy(from, to);
    take_over();
    actor_.copy(const_cast<std::byte*>(there(ConstBytes(to, from.size())).data()), from, site);
  }
  bool copies_lines() const override { return true; }
  bool persistent(Ticket ticket) const override { return actor_.persistent(ticket); }
  [[nodiscard]] Status wait(Ticket ticket) override { return actor_.wait(ticket); }
  void request(Ticket ticket) override {
    actor_.request(ticket);
    take_over();
    mirror_.run_requested_commits();
  }

 private:
  void take_over() { std::ranges::copy(bytes_, mirror_.bytes().begin()); }
  ConstBytes there(ConstBytes range) {
    return mirror_.visible().subspan(static_cast<std::size_t>(range.data() - bytes_.data()),
                                     range.size());
  }

  const Bytes bytes_;
  const std::optional<Backing> backing_;
  CrashMemory& mirror_;
  CrashRegion actor_;
};

// A peer's way to page media: nothing that it does there makes anything persistent.
class StoringRegion final : public Region {
 public:
  explicit StoringRegion(Bytes bytes) : bytes_(bytes) {}

  Bytes bytes() override { return bytes_; }
  const Strategy& strategy() const override { return strategy_; }
  void flush(ConstBytes, Site) override {}
  [[nodiscard]] Ticket drain(Site) override { return {}; }
  void copy(std::byte* to, ConstBytes from, Site) override { std::ranges::copy(from, to); }
  bool persistent(Ticket) const override { return true; }
  [[nodiscard]] Status wait(Ticket) override { return {}; }
  void request(Ticket) override {}

 private:
  const Bytes bytes_;
  const Strategy strategy_{.granularity = Granularity::page, .method = {}, .reason = {}};
};

}  // namespace

MirroredTarget::MirroredTarget(std::uint64_t seed, const Platform& platform)
    : memory_(std::move(make_dram(far_bytes)).value()),
      mirror_(far_bytes, platform, Random(mix(seed))),
      region_(std::make_unique<MirroredRegion>(memory_->bytes(), memory_->backing(), mirror_)) {}

bool MirroredTarget::survives(std::size_t offset, ConstBytes bytes) {
  std::ranges::copy(memory_->bytes(), mirror_.bytes().begin());
  return survives_every_cut(mirror_, offset, bytes);
}

Result<std::unique_ptr<Region>> MirroredTarget::view(Bytes mapped) {
  if (mapped.size() != far_bytes) {
    return Status(Code::invalid_argument, "not the whole memory");
  }
  if (mirror_.platform().granularity == Granularity::page) {
    return std::unique_ptr<Region>(std::make_unique<StoringRegion>(mapped));
  }
  return std::unique_ptr<Region>(std::make_unique<MirroredRegion>(mapped, std::nullopt, mirror_));
}

}  // namespace remora::fabric::contract
