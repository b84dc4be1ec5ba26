#include "bench/nic/ideal.h"

#include <array>
#include <atomic>
#include <cstring>
#include <utility>

#include "bench/nic/child.h"

namespace remora::bench {
namespace {

constexpr std::size_t entries = 2 * most_depth;
constexpr std::uint64_t completions_at_once = 8;

struct alignas(cache_line_bytes) Entry {
  std::atomic<std::uint64_t> number;  // counts from 1; the entry is there when it is the next one
  std::uint64_t local_offset;
  std::uint64_t target_offset;
  std::uint64_t size_bytes;
  Verb verb;
};
static_assert(sizeof(Entry) == cache_line_bytes);

// All that the two processes share.
struct Segment {
  std::array<Entry, entries> queue;
  alignas(cache_line_bytes) std::atomic<std::uint64_t> completed;
  alignas(page_bytes) std::array<std::byte, local_bytes> local;
  alignas(page_bytes) std::array<std::byte, target_bytes> target;
};

void perform(Segment& segment, const Entry& entry) {
  std::byte* local = segment.local.data() + entry.local_offset;
  std::byte* target = segment.target.data() + entry.target_offset;
  if (entry.verb == Verb::write) {
    std::memcpy(target, local, entry.size_bytes);
  } else {
    std::memcpy(local, target, entry.size_bytes);
  }
}

// Completions are told when there is nothing more to perform, or several at once.
Status serve(const ChildContext& context, Segment& segment) {
  REMORA_TRY(context.ready());
  std::uint64_t performed = 0;
  std::uint64_t told = 0;
  while (!context.ending()) {
    const Entry& entry = segment.queue[performed % entries];
    if (entry.number.load(std::memory_order_acquire) == performed + 1) {
      perform(segment, entry);
      ++performed;
      if (performed - told < completions_at_once) {
        continue;
      }
    }
    if (told != performed) {
      segment.completed.store(performed, std::memory_order_release);
      told = performed;
    }
  }
  return Status();
}

class Ideal final : public Contender {
 public:
  Ideal(SharedMemory memory, std::unique_ptr<Child> child)
      : memory_(std::move(memory)), child_(std::move(child)) {}

  std::string name() const override { return "the ideal"; }
  pid_t process() const override { return child_->process(); }
  Bytes local() override { return segment().local; }
  Bytes view() override { return segment().target; }

  Status run(const Shape& shape, std::uint64_t operations) override {
    const std::uint64_t last = posted_ + operations;
    const std::uint64_t first = posted_;
    Patience patience("the process that copies");
    for (std::uint64_t completed = posted_; completed < last;) {
      for (; posted_ < last && posted_ - completed < shape.depth; ++posted_) {
        post(shape, (posted_ - first) % shape.depth);
      }
      const std::uint64_t now = segment().completed.load(std::memory_order_acquire);
      if (now == completed) {
        REMORA_TRY(patience.spin());
      }
      completed = now;
    }
    return Status();
  }

 private:
  Segment& segment() { return memory_.as<Segment>(); }

  void post(const Shape& shape, std::uint64_t slot) {
    Entry& entry = segment().queue[posted_ % entries];
    entry.local_offset = slot * shape.size_bytes;
    entry.target_offset = next_offset(shape.size_bytes);
    entry.size_bytes = shape.size_bytes;
    entry.verb = shape.verb;
    entry.number.store(posted_ + 1, std::memory_order_release);
  }

  SharedMemory memory_;
  std::unique_ptr<Child> child_;
  std::uint64_t posted_ = 0;
};

}  // namespace

Result<std::unique_ptr<Contender>> start_ideal(int core) {
  REMORA_TRY_RESULT(memory, SharedMemory::create(sizeof(Segment)));
  touch(memory->bytes());
  Result<std::unique_ptr<Child>> child = Child::start(core, [&](const ChildContext& context) {
    touch(memory->bytes());
    return serve(context, memory->as<Segment>());
  });
  REMORA_TRY(child.status());
  return std::unique_ptr<Contender>(
      std::make_unique<Ideal>(std::move(memory).value(), std::move(child).value()));
}

}  // namespace remora::bench
