#include "fabric/nic/device/fuzz/ground.h"

#include <algorithm>

#include "base/check.h"

namespace remora::fabric::nic::fuzz {
namespace {

constexpr std::size_t canary_bytes = 128;
constexpr std::size_t ground_bytes = plot_count * (canary_bytes + plot_bytes) + canary_bytes;
constexpr std::byte canary{0xee};

constexpr AccessFlags plot_access[plot_count] = {
    every_access,
    remote_read,
    local_write | remote_write,
    local_write | remote_atomic,
    local_write,
    every_access & ~flush_persistence,
    every_access,
};

constexpr std::size_t begin_of(std::size_t plot) {
  return plot * (canary_bytes + plot_bytes) + canary_bytes;
}

// The strips that were granted are those with odd numbers.
bool is_granted_byte(std::size_t plot, std::size_t offset) {
  return plot != plot_granted || offset / strip_bytes % 2 == 1;
}

bool is_plain(std::size_t plot, std::size_t offset) {
  return plot == plot_open || plot == plot_constant || plot == plot_counted ||
         (plot == plot_granted && is_granted_byte(plot, offset));
}

const std::vector<std::byte>& first_picture() {
  static const std::vector<std::byte> first = [] {
    std::vector<std::byte> picture(ground_bytes, canary);
    for (std::size_t plot = 0; plot < plot_count; ++plot) {
      for (std::size_t i = 0; i < plot_bytes; ++i) {
        const std::size_t value = (i * 13 + plot) & written_mask;
        picture[begin_of(plot) + i] =
            static_cast<std::byte>(is_plain(plot, i) ? value : value | secret);
      }
    }
    return picture;
  }();
  return first;
}

}  // namespace

Ground::Ground(ProtectionDomain& own, ProtectionDomain& foreign, Granularity medium)
    : medium_(ground_bytes, medium), picture_(first_picture()) {
  medium_.commit_when_asked();
  std::memcpy(medium_.data(), picture_.data(), picture_.size());
  domains_.fill(&own);
  domains_[plot_foreign] = &foreign;
  for (std::size_t plot = 0; plot < plot_count; ++plot) {
    replace(static_cast<Plot>(plot));
  }
}

std::uint64_t Ground::address(Plot plot) const {
  return reinterpret_cast<std::uintptr_t>(regions_[plot]->bytes().data());
}

void Ground::replace(Plot plot) {
  if (regions_[plot] != nullptr) {
    stale_key_ = key(plot);
    regions_[plot].reset();
  }
  const AccessFlags access = plot_access[plot];
  Region* const medium = (access & flush_persistence) != 0 ? &medium_ : nullptr;
  regions_[plot] =
      std::move(domains_[plot]->register_memory(medium_.bytes().subspan(begin_of(plot), plot_bytes),
                                                access, medium))
          .value();
  if (plot == plot_granted) {
    REMORA_CHECK(regions_[plot]->guard_with(strips_), "the software RNIC asks guards");
  }
}

bool Ground::Strips::allows(const RemoteAccess& access) {
  const std::uint64_t into = access.offset % (2 * strip_bytes);
  return into >= strip_bytes && access.size_bytes <= 2 * strip_bytes - into;
}

bool Ground::admits(const Asker& asker, std::size_t plot, RemoteKey key, AccessFlags needed) const {
  const AccessFlags both = plot_access[plot] & asker.rights;
  return regions_[plot]->remote_key() == key && asker.foreign == (plot == plot_foreign) &&
         (both & needed) == needed;
}

bool Ground::grants(const Asker& asker, RemoteKey key, std::uint64_t address,
                    std::uint64_t size_bytes, AccessFlags needed) const {
  for (std::size_t plot = 0; plot < plot_count; ++plot) {
    const std::uint64_t begin = this->address(static_cast<Plot>(plot));
    const std::uint64_t end = begin + plot_bytes;
    if (!admits(asker, plot, key, needed) || address < begin || address > end ||
        size_bytes > end - address) {
      continue;
    }
    bool all = true;
    for (std::uint64_t at = address; plot == plot_granted && at < address + size_bytes; ++at) {
      all = all && is_granted_byte(plot, at - begin);
    }
    if (all) {
      return true;
    }
  }
  return false;
}

bool Ground::grants_region(const Asker& asker, RemoteKey key, AccessFlags needed) const {
  for (std::size_t plot = 0; plot < plot_count; ++plot) {
    if (plot != plot_granted && admits(asker, plot, key, needed)) {
      return true;
    }
  }
  return false;
}

bool Ground::may_change(const Asker& asker, Plot plot) {
  return asker.foreign == (plot == plot_foreign) &&
         (plot_access[plot] & asker.rights & (remote_write | remote_atomic)) != 0;
}

Bytes Ground::expected(std::uint64_t address, std::size_t size_bytes) {
  const std::uint64_t offset = address - (this->address(plot_open) - begin_of(plot_open));
  REMORA_CHECK(within(offset, size_bytes, picture_.size()), "what was granted lies elsewhere");
  return Bytes(picture_).subspan(offset, size_bytes);
}

void Ground::adopt(std::uint64_t address, std::size_t size_bytes) {
  copy_bytes(expected(address, size_bytes).data(),
             ConstBytes(reinterpret_cast<const std::byte*>(address), size_bytes));
}

void Ground::check() {
  REMORA_CHECK(std::memcmp(picture_.data(), medium_.data(), picture_.size()) == 0,
               "memory is not as the requests that were granted made it");
}

void Ground::check_but(const std::array<bool, plot_count>& changed) {
  for (std::size_t plot = 0; plot < plot_count; ++plot) {
    for (std::size_t at = 0; changed[plot] && at < plot_bytes; at += strip_bytes) {
      if (is_granted_byte(plot, at)) {
        adopt(address(static_cast<Plot>(plot)) + at, strip_bytes);
      }
    }
  }
  check();
}

}  // namespace remora::fabric::nic::fuzz
