#include "kv/buffers.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace remora::kv {
namespace {

constexpr std::uint64_t look_again_ns = 1000;

}  // namespace

Buffers::Buffers(Runtime& runtime, std::size_t size_bytes)
    : runtime_(runtime), storage_(size_bytes + 64) {
  const std::size_t skip = (64 - reinterpret_cast<std::uintptr_t>(storage_.data()) % 64) % 64;
  memory_ = Bytes(storage_).subspan(skip, size_bytes);
  const auto top = static_cast<unsigned>(std::countr_zero(size_bytes));
  free_.resize(top + 1);
  free_order_.resize(size_bytes >> smallest_order);
  for (unsigned order = smallest_order; order <= top; ++order) {
    free_[order].reserve(size_bytes >> order);
  }
  joining_.reserve(size_bytes >> smallest_order);
  free_[top].push_back(0);
  free_order_[0] = static_cast<std::uint8_t>(top);
}

Result<std::unique_ptr<Buffers>> Buffers::create(Runtime& runtime, fabric::ProtectionDomain& domain,
                                                 std::size_t size_bytes) {
  const std::size_t whole =
      std::bit_ceil(std::max(size_bytes, std::size_t{1} << (smallest_order + 2)));
  std::unique_ptr<Buffers> buffers(new Buffers(runtime, whole));
  REMORA_TRY_RESULT(region, domain.register_memory(buffers->memory_, fabric::local_write));
  buffers->region_ = std::move(region).value();
  return buffers;
}

bool Buffers::split_or_join(unsigned order, std::size_t& offset) {
  if (split(order, offset)) {
    return true;
  }
  join_all();
  return split(order, offset);
}

// The smallest free piece that is large enough, or a part of it.
bool Buffers::split(unsigned order, std::size_t& offset) {
  unsigned from = order;
  while (from < free_.size() && free_[from].empty()) {
    ++from;
  }
  if (from >= free_.size()) {
    return false;
  }
  offset = free_[from].back();
  free_[from].pop_back();
  free_order_[offset >> smallest_order] = 0;
  while (from > order) {
    --from;
    const std::size_t half = offset + (std::size_t{1} << from);
    free_[from].push_back(half);
    free_order_[half >> smallest_order] = static_cast<std::uint8_t>(from);
  }
  return true;
}

// From the smallest up: every free piece whose other half is free becomes one with it.
void Buffers::join_all() {
  for (unsigned order = smallest_order; order + 1 < free_.size(); ++order) {
    joining_.assign(free_[order].begin(), free_[order].end());
    free_[order].clear();
    for (const std::size_t offset : joining_) {
      const std::size_t other = offset ^ (std::size_t{1} << order);
      if (free_order_[offset >> smallest_order] != order) {
        continue;  // its other half has taken it
      }
      if (free_order_[other >> smallest_order] == order) {
        free_order_[offset >> smallest_order] = 0;
        free_order_[other >> smallest_order] = 0;
        give_back(std::min(offset, other), order + 1);
      } else {
        free_[order].push_back(offset);
      }
    }
  }
}

// --- Waiting ---

void BufferWait::await_suspend(std::coroutine_handle<> flow) {
  suspend(flow);
  owner_.runtime_.arm(*this, owner_.runtime_.after(look_again_ns));
}

void BufferWait::expire() {
  if (await_ready()) {
    Waiter::expire();
  } else {
    owner_.runtime_.arm(*this, owner_.runtime_.after(look_again_ns));
  }
}

}  // namespace remora::kv
