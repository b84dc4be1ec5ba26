#include "lab/measured/nic/side.h"

#include <algorithm>
#include <utility>

namespace remora::lab {

using fabric::Sge;

Result<std::unique_ptr<Side>> Side::create(Runtime& runtime, fabric::nic::Wire& wire,
                                           std::uint64_t memory_bytes, std::uint64_t depth,
                                           fabric::nic::Keys keys) {
  std::unique_ptr<Side> side(new Side());
  fabric::nic::NicOptions options;
  options.keys = std::move(keys);
  side->device_ = std::make_unique<fabric::nic::Nic>(runtime, wire, side->dma_, std::move(options));
  REMORA_TRY(side->prepare(memory_bytes, depth));
  return side;
}

Result<std::unique_ptr<Side>> Side::create(std::unique_ptr<fabric::Device> device,
                                           std::uint64_t memory_bytes, std::uint64_t depth) {
  std::unique_ptr<Side> side(new Side());
  side->device_ = std::move(device);
  REMORA_TRY(side->prepare(memory_bytes, depth));
  return side;
}

Status Side::prepare(std::uint64_t memory_bytes, std::uint64_t depth) {
  REMORA_TRY_RESULT(region, make_dram(memory_bytes));
  region_ = std::move(region).value();
  // Every page is touched before anything is timed.
  std::ranges::fill(region_->bytes(), std::byte{0x5a});
  domain_ = device_->create_domain();
  const auto queue_length = static_cast<std::uint32_t>(2 * depth + 64);
  REMORA_TRY_RESULT(completions, device_->create_completion_queue(2 * queue_length));
  completions_ = std::move(completions).value();
  REMORA_TRY(register_memory());
  fabric::QueuePairOptions options;
  options.send_queue = completions_.get();
  options.receive_queue = completions_.get();
  options.max_sends = queue_length;
  options.max_receives = queue_length;
  REMORA_TRY_RESULT(queue_pair, domain_->create_queue_pair(options));
  queue_pair_ = std::move(queue_pair).value();
  return queue_pair_->initialise();
}

// Nobody watches this memory.
Status Side::register_memory() {
  constexpr fabric::AccessFlags access = fabric::every_access | fabric::relaxed_order;
  auto memory = domain_->register_memory(region_->bytes(), access, region_.get());
  if (memory.code() == Code::unsupported) {
    flush_placement_ = fabric::FlushPlacement::visibility;
    memory = domain_->register_memory(
        region_->bytes(), access & ~fabric::AccessFlags{fabric::flush_persistence}, region_.get());
  }
  REMORA_TRY(memory.status());
  memory_ = std::move(memory).value();
  return Status();
}

Introduction Side::introduction() const {
  return {queue_pair_->address(), memory_->remote(0), memory_->bytes().size()};
}

Status Side::connect(const Introduction& peer) {
  peer_ = peer;
  // Losses are made good soon, and a process that waits for a processor is not given up.
  return queue_pair_->connect(peer.queue_pair, {.timeout_ns = 50'000'000, .retry_count = 140});
}

Replenisher::Replenisher(Runtime& runtime, Side& side, std::uint64_t size_bytes,
                         std::uint64_t depth)
    : side_(side), size_bytes_(size_bytes) {
  for (std::uint64_t i = 0; i < depth + 32; ++i) {
    post();
  }
  runtime.add_poller(*this);
}

bool Replenisher::poll() {
  const std::size_t count = side_.completions().poll(completions_);
  for (std::size_t i = 0; i < count; ++i) {
    if (completions_[i].status == fabric::WorkStatus::success) {
      post();
    }
  }
  return count != 0;
}

void Replenisher::post() {
  const Sge piece = side_.memory().piece(0, size_bytes_);
  const fabric::ReceiveWork work{0, std::span(&piece, 1)};
  // A queue pair that has failed takes no more; the initiator reports why.
  (void)side_.queue_pair().post_receive(std::span(&work, 1)).ok();
}

Answering replenishing(std::uint64_t size_bytes, std::uint64_t depth) {
  return [size_bytes, depth](Runtime& runtime, Side& side) {
    return std::make_shared<Replenisher>(runtime, side, size_bytes, depth);
  };
}

}  // namespace remora::lab
