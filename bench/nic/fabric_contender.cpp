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

Status FabricContender::post(const Shape& shape, std::uint64_t first, std::uint64_t count) {
  const std::size_t entries = shape.persistent ? 2 : 1;
  while (count > 0) {
    const std::size_t slot = first % shape.depth;
    const std::size_t now = std::min<std::size_t>(count, shape.depth - slot);
    const std::span batch(&works_[slot * entries], now * entries);
    for (std::size_t i = 0; i < batch.size(); i += entries) {
      const std::uint64_t address = side().peer().memory.address + next_offset(shape.size_bytes);
      batch[i].remote.address = address;
      batch[i + entries - 1].remote.address = address;
    }
    REMORA_TRY(side().queue_pair().post_send(batch));
    first += now;
    count -= now;
  }
  return Status();
}

Status FabricContender::run(const Shape& shape, std::uint64_t operations) {
  prepare(shape);
  std::array<WorkCompletion, most_depth> completions;
  Patience patience("the target of the wire");
  std::uint64_t posted = 0;
  for (std::uint64_t completed = 0; completed < operations;) {
    const std::uint64_t room = std::min(operations - posted, shape.depth - (posted - completed));
    if (room > 0) {
      REMORA_TRY(post(shape, posted, room));
      posted += room;
    }
    const std::size_t count = side().completions().poll(completions);
    if (count == 0) {
      runtime().turn();
      REMORA_TRY(patience.spin());
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (completions[i].status != WorkStatus::success) {
        return Status(Code::io_error, name() + ": an operation failed: " +
                                          std::string(to_string(completions[i].status)));
      }
    }
    completed += count;
  }
  return Status();
}

}  // namespace remora::bench
