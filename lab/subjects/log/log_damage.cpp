#include "lab/subjects/log/log_damage.h"

#include <algorithm>

#include "kv/log/log_testing.h"
#include "lab/memory/crash_region.h"

namespace remora {
namespace {

using kv::object_format::Header;

// A byte of a header or a key that a checksum covers.
Offset byte_of(const FoundObject& object, Random& random) {
  constexpr std::uint64_t fixed = offsetof(Header, previous);
  constexpr std::uint64_t expires = sizeof(Header) - offsetof(Header, expires);
  const std::uint64_t byte = random.below(fixed + expires + object.key.size());
  return object.offset + (byte < fixed ? byte : byte - fixed + offsetof(Header, expires));
}

bool same(const std::vector<FoundObject>& a, const std::vector<FoundObject>& b) {
  return std::ranges::equal(a, b, {}, &FoundObject::number, &FoundObject::number);
}

}  // namespace

std::optional<Broken> LogDamage::try_one(ConstBytes image, const Platform& platform,
                                         const Faults& faults,
                                         const std::vector<FoundObject>& found,
                                         const std::vector<FoundObject>& before, Offset superblock,
                                         Random random) {
  const bool in_superblock = before.empty() || random.chance(1, 4);
  const Offset at = in_superblock ? superblock + random.below(kv::store_format::superblock_bytes(4))
                                  : byte_of(before[random.below(before.size())], random);
  std::ranges::copy(image, image_.begin());
  image_[at] ^= static_cast<std::byte>(1 + random.below(255));
  memory_.restart(image_, platform, random.fork());
  CrashRegion region(memory_);
  VirtualLoop loop;
  kv::NoDevice device;
  const Result<std::unique_ptr<Pool>> pool = Pool::open(region, "the pool");
  if (!pool.ok()) {
    return std::nullopt;
  }
  std::vector<FoundObject> now;
  const Host host(loop, device, &region, faults);
  const auto log = kv::Log::recover(host, **pool, {"sim", 0}, [&](const kv::Object& object) {
    now.push_back(FoundObject::of(object));
  });
  if (!log.ok() || same(found, now)) {
    return std::nullopt;
  }
  return Broken{"damage is noticed", "a byte at offset " + std::to_string(at) +
                                         " was damaged, and of " + std::to_string(found.size()) +
                                         " objects " + std::to_string(now.size()) +
                                         " were found as if nothing had happened"};
}

}  // namespace remora
