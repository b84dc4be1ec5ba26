#include "bench/nic/fabric_contender.h"

#include <algorithm>
#include <string>

namespace remora::bench {

using fabric::Opcode;
using fabric::SendWork;
using fabric::WorkCompletion;
using fabric::WorkStatus;

void FabricContender::prepare(const Shape& shape) {
  const std::size_t entries = shape.persistent ? 2 : 1;
  for (std::size_t slot = 0; slot < shape.depth; ++slot) {
    pieces_[slot] = side().memory().piece(slot * shape.size_bytes, shape.size_bytes);
    SendWork& work = works_[slot * entries];
    work = {};
    work.id = slot;
    work.opcode = shape.verb == Verb::write ? Opcode::write : Opcode::read;
    work.pieces = std::span(&pieces_[slot], 1);
    work.remote.key = side().peer().memory.key;
    if (shape.persistent) {
      SendWork& flush = works_[slot * entries + 1];
      flush = {};
      flush.id = slot;
      flush.opcode = Opcode::flush;
      flush.remote = work.remote;
      flush.flush_bytes = static_cast<std::uint32_t>(shape.size_bytes);
      work.signalled = false;
    }
  }
}

Status FabricContender::post(const Shape& shape, std::uint64_t count) {
  const std::size_t entries = shape.persistent ? 2 : 1;
  const std::uint64_t base = side().peer().memory.address;
  fabric::QueuePair& queue_pair = side().queue_pair();
  while (count > 0) {
    const std::size_t slot = next_slot_;
    const std::size_t now = std::min<std::size_t>(count, shape.depth - slot);
    const std::span batch(&works_[slot * entries], now * entries);
    for (std::size_t i = 0; i < batch.size(); i += entries) {
      const std::uint64_t address = base + next_offset(shape.size_bytes);
      batch[i].remote.address = address;
      batch[i + entries - 1].remote.address = address;
    }
    REMORA_TRY(queue_pair.post_send(batch));
    next_slot_ = slot + now == shape.depth ? 0 : slot + now;
    count -= now;
  }
  return Status();
}

Status FabricContender::run_one_by_one(const Shape& shape, std::uint64_t operations) {
  if (shape.persistent) {
    return run_alike<true, false>(shape.size_bytes, operations);
  }
  return shape.chained ? run_alike<false, true>(shape.size_bytes, operations)
                       : run_alike<false, false>(shape.size_bytes, operations);
}

// With nothing but what any program must do: at 64 B half of the time would be the bench's own.
template <bool persistent, bool chained>
Status FabricContender::run_alike(std::size_t size_bytes, std::uint64_t operations) {
  const std::span batch(works_.data(), persistent ? 2 : 1);
  const std::uint64_t base = side().peer().memory.address;
  const std::size_t zero = hidden_zero();
  const std::byte* const brought = local().data() + size_bytes - word_bytes;  // last
  fabric::QueuePair& queue_pair = side().queue_pair();
  fabric::CompletionQueue& queue = side().completions();
  Walk walk = this->walk(size_bytes);
  WorkCompletion completion;
  for (std::uint64_t left = operations; left > 0; --left) {
    std::uint64_t address = base + walk.next() * size_bytes;
    if constexpr (chained) {
      address += load<std::uint64_t>(brought) * zero;
    }
    batch.front().remote.address = address;
    if constexpr (persistent) {
      batch.back().remote.address = address;
    }
    REMORA_TRY(queue_pair.post_send(batch));
    if (queue.poll(std::span(&completion, 1)) == 0) {
      REMORA_TRY(await(queue, completion));
    }
    if (completion.status != WorkStatus::success) {
      return failure(completion);
    }
  }
  this->walk(size_bytes) = walk;
  return Status();
}

Status FabricContender::await(fabric::CompletionQueue& queue, WorkCompletion& completion) {
  Patience patience("the target of the wire");
  while (queue.poll(std::span(&completion, 1)) == 0) {
    runtime().turn();
    REMORA_TRY(patience.spin());
  }
  return Status();
}

Status FabricContender::failure(const WorkCompletion& completion) const {
  return Status(Code::io_error,
                name() + ": an operation failed: " + std::string(to_string(completion.status)));
}

Status FabricContender::run(const Shape& shape, std::uint64_t operations) {
  prepare(shape);
  next_slot_ = 0;
  if (shape.depth == 1) {
    return run_one_by_one(shape, operations);
  }
  std::array<WorkCompletion, most_depth> completions;
  Patience patience("the target of the wire");
  fabric::CompletionQueue& queue = side().completions();
  std::uint64_t posted = 0;
  for (std::uint64_t completed = 0; completed < operations;) {
    const std::uint64_t room = std::min(operations - posted, shape.depth - (posted - completed));
    if (room > 0) {
      REMORA_TRY(post(shape, room));
      posted += room;
    }
    const std::size_t count = queue.poll(completions);
    if (count == 0) {
      runtime().turn();
      REMORA_TRY(patience.spin());
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (completions[i].status != WorkStatus::success) {
        return failure(completions[i]);
      }
    }
    completed += count;
  }
  return Status();
}

}  // namespace remora::bench
