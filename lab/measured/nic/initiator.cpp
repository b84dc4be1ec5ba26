#include "lab/measured/nic/initiator.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>

namespace remora::lab {

using fabric::Opcode;
using fabric::SendWork;
using fabric::Sge;
using fabric::WorkCompletion;
using fabric::WorkStatus;

namespace {

const std::map<std::string, Opcode>& opcodes() {
  static const std::map<std::string, Opcode> names = {
      {"read", Opcode::read},
      {"write", Opcode::write},
      {"send", Opcode::send},
      {"write-imm", Opcode::write_imm},
      {"cas", Opcode::compare_swap},
      {"fetch-add", Opcode::fetch_add},
      {"atomic-write", Opcode::atomic_write},
      {"flush", Opcode::flush},
      {"write-flush", Opcode::write},
  };
  return names;
}

}  // namespace

const std::vector<std::string>& nic_bench_operations() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const auto& [name, opcode] : opcodes()) {
      list.push_back(name);
    }
    return list;
  }();
  return names;
}

std::string list_of_operations() {
  std::string text;
  for (const std::string& name : nic_bench_operations()) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

bool works_on_a_word(const std::string& operation) {
  return operation == "cas" || operation == "fetch-add" || operation == "atomic-write";
}

Initiator::Initiator(Runtime& runtime, Side& side, const NicBenchOptions& options)
    : runtime_(runtime),
      side_(side),
      options_(options),
      opcode_(opcodes().at(options.operation)),
      then_flush_(options.operation == "write-flush"),
      stride_bytes_(round_up(std::max(options.size_bytes, std::uint64_t{cache_line_bytes}),
                             std::uint64_t{cache_line_bytes})),
      posted_ns_(options.depth) {
  batch_.reserve(2 * options.depth);
  for (std::uint64_t slot = 0; slot < options.depth; ++slot) {
    pieces_.push_back(side_.memory().piece(slot * stride_bytes_, options_.size_bytes));
  }
}

fabric::RemoteAddress Initiator::next_target() {
  const fabric::RemoteAddress target{side_.peer().memory.address + offset_,
                                     side_.peer().memory.key};
  offset_ += stride_bytes_;
  const std::uint64_t all_bytes = side_.peer().memory_bytes;
  const std::uint64_t walk_bytes =
      options_.walk_bytes == 0 ? all_bytes : std::min(options_.walk_bytes, all_bytes);
  if (offset_ + stride_bytes_ > walk_bytes) {
    offset_ = 0;
  }
  return target;
}

void Initiator::prepare(std::uint64_t slot) {
  SendWork work;
  work.id = slot;
  work.opcode = opcode_;
  if (opcode_ != Opcode::flush && opcode_ != Opcode::atomic_write) {
    work.pieces = std::span(&pieces_[slot], 1);
  }
  if (opcode_ != Opcode::send) {
    work.remote = next_target();
  }
  work.operand = 1;
  work.flush_bytes = static_cast<std::uint32_t>(options_.size_bytes);
  work.flush_placement = side_.flush_placement();
  work.signalled = !then_flush_;
  batch_.push_back(work);
  if (then_flush_) {
    SendWork flush;
    flush.id = slot;
    flush.opcode = Opcode::flush;
    flush.remote = work.remote;
    flush.flush_bytes = work.flush_bytes;
    flush.flush_placement = work.flush_placement;
    batch_.push_back(flush);
  }
}

Status Initiator::post_batch() {
  const std::uint64_t now_ns = runtime_.now_ns();
  for (const SendWork& work : batch_) {
    posted_ns_[work.id] = now_ns;
  }
  const Status status = side_.queue_pair().post_send(batch_);
  batch_.clear();
  return status;
}

Status Initiator::run(std::uint64_t operations, Timing& timing) {
  timing.operations = operations;
  const std::uint64_t start_ns = runtime_.now_ns();
  std::uint64_t posted = 0;
  for (; posted < std::min(options_.depth, operations); ++posted) {
    prepare(posted);
  }
  REMORA_TRY(post_batch());
  std::array<WorkCompletion, 32> completions;
  for (std::uint64_t completed = 0; completed < operations;) {
    const std::size_t count = side_.completions().poll(completions);
    if (count == 0) {
      const RunState state = runtime_.turn();
      if (state != RunState::running) {
        return Status(Code::timed_out, "the simulated world stands still");
      }
      continue;
    }
    const std::uint64_t now_ns = runtime_.now_ns();
    for (const WorkCompletion& completion : std::span(completions).first(count)) {
      if (completion.status != WorkStatus::success) {
        return Status(Code::io_error,
                      "an operation failed: " + std::string(to_string(completion.status)));
      }
      timing.latency_ns.record(now_ns - posted_ns_[completion.id]);
      ++completed;
      if (posted < operations) {
        ++posted;
        prepare(completion.id);
      }
    }
    if (!batch_.empty()) {
      REMORA_TRY(post_batch());
    }
  }
  timing.span_ns = runtime_.now_ns() - start_ns;
  return Status();
}

}  // namespace remora::lab
