#include "fabric/nic/wire/ring/lending.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "fabric/nic/wire/ring/ring_limits.h"
#include "fabric/nic/wire/ring/shared_segment.h"

namespace remora::fabric::nic::ring {
namespace {

constexpr auto longest = static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());

bool is_same(ConstBytes one, ConstBytes other) {
  return one.data() == other.data() && one.size() == other.size();
}

}  // namespace

std::optional<LendingMessage> parse_lending(ConstBytes bytes) {
  LendingMessage message;
  if (bytes.size() != sizeof message) {
    return std::nullopt;
  }
  std::memcpy(&message, bytes.data(), sizeof message);
  const bool is_show = message.kind == static_cast<std::uint16_t>(LendingKind::show);
  const bool is_known = message.kind >= static_cast<std::uint16_t>(LendingKind::show) &&
                        message.kind <= static_cast<std::uint16_t>(LendingKind::forget);
  const bool has_range =
      is_show ? message.size_bytes != 0 && within(message.offset, message.size_bytes, longest)
              : message.size_bytes == 0 && message.offset == 0;
  if (!is_known || message.zero != 0 || message.number == 0 || !has_range) {
    return std::nullopt;
  }
  return message;
}

// --- The lender ---

void Offers::add(ConstBytes memory, const Backing& backing) {
  const auto known = std::ranges::find_if(
      offers_, [&](const Offer& offer) { return is_same(offer.memory, memory); });
  if (known != offers_.end()) {
    ++known->count;
    return;
  }
  if (memory.empty() || offers_.size() == limits::shown_memories ||
      !is_sealed_memory(backing.descriptor)) {
    return;
  }
  Descriptor file = open_anew(backing.descriptor, O_RDONLY);
  if (file.open()) {
    offers_.push_back({memory, backing.offset, ++numbers_, 1, std::move(file)});
  }
}

std::optional<std::uint32_t> Offers::remove(ConstBytes memory) {
  const auto known = std::ranges::find_if(
      offers_, [&](const Offer& offer) { return is_same(offer.memory, memory); });
  if (known == offers_.end() || --known->count != 0) {
    return std::nullopt;
  }
  const std::uint32_t number = known->number;
  offers_.erase(known);
  return number;
}

const Offers::Offer* Offers::find(ConstBytes bytes) const {
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  for (const Offer& offer : offers_) {
    const std::uintptr_t offset = begin - reinterpret_cast<std::uintptr_t>(offer.memory.data());
    if (within(offset, bytes.size(), offer.memory.size())) {
      return &offer;
    }
  }
  return nullptr;
}

// --- The borrower ---

Borrowed::~Borrowed() {
  for (const Memory& memory : memories_) {
    ::munmap(const_cast<std::byte*>(memory.pages.data()), memory.pages.size());
  }
}

Status Borrowed::map(const LendingMessage& message, Descriptor file) {
  if (memories_.size() == limits::shown_memories ||
      message.size_bytes > limits::shown_bytes - mapped_bytes_) {
    return Status(Code::no_space, "the peer has shown as much memory as it may");
  }
  if (std::ranges::find(memories_, message.number, &Memory::number) != memories_.end()) {
    return Status(Code::already_exists, "the peer has shown memory of that number already");
  }
  struct stat facts = {};
  if (!file.open() || !is_sealed_memory(file.number()) || ::fstat(file.number(), &facts) != 0 ||
      !within(message.offset, message.size_bytes, static_cast<std::uint64_t>(facts.st_size))) {
    return Status(Code::permission_denied, "the memory that the peer shows could be cut short");
  }
  const std::uint64_t begin = round_down(message.offset, std::uint64_t{page_bytes});
  const std::uint64_t size_bytes = message.offset + message.size_bytes - begin;
  // Pages come when they are read: what the lender never touched is not made here.
  void* base =
      ::mmap(nullptr, size_bytes, PROT_READ, MAP_SHARED, file.number(), static_cast<off_t>(begin));
  if (base == MAP_FAILED) {
    return os_failure("cannot map the memory that the peer shows", errno);
  }
  ::madvise(base, size_bytes, MADV_DONTFORK);
  ::madvise(base, size_bytes, MADV_DONTDUMP);  // it is not this process's to show
  const ConstBytes pages(static_cast<const std::byte*>(base), size_bytes);
  memories_.push_back({message.number, pages, pages.subspan(message.offset - begin)});
  mapped_bytes_ += message.size_bytes;
  return {};
}

void Borrowed::unmap(std::uint32_t number) {
  const auto known = std::ranges::find(memories_, number, &Memory::number);
  if (known != memories_.end()) {
    ::munmap(const_cast<std::byte*>(known->pages.data()), known->pages.size());
    mapped_bytes_ -= known->bytes.size();
    memories_.erase(known);
  }
}

ConstBytes Borrowed::find(std::uint32_t number, std::uint64_t offset,
                          std::uint64_t size_bytes) const {
  for (const Memory& memory : memories_) {
    if (memory.number == number) {
      return within(offset, size_bytes, memory.bytes.size())
                 ? memory.bytes.subspan(offset, size_bytes)
                 : ConstBytes();
    }
  }
  return {};
}

}  // namespace remora::fabric::nic::ring
