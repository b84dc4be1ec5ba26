#include "lab/calls/calls_load.h"

#include <algorithm>

#include "lab/calls/append.h"

namespace remora::lab {

using rpc::calls::CallClient;

namespace {

constexpr std::uint64_t look_again_ns = 10'000;
constexpr std::uint64_t sign_of_life_ns = 60'000;

}  // namespace

CallsLoad::OpenCall::OpenCall(Runtime& runtime, std::vector<std::byte> its_arguments)
    : arguments(std::move(its_arguments)),
      call(runtime, rpc::calls::method_number("append"), arguments) {}

CallsLoad::CallsLoad(CallsWorld& world, const CallsPlan& plan, Random random)
    : world_(world),
      plan_(plan),
      random_(random),
      left_(plan.operations),
      at_work_(world.callers()),
      lives_(world.callers()) {}

void CallsLoad::start(std::uint32_t caller) {
  at_work_[caller] = true;
  ++lives_[caller];
  world_.caller(caller).spawn(live(caller));
}

bool CallsLoad::finished() const {
  return std::ranges::none_of(at_work_, [](bool at_work) { return at_work; });
}

Task<void> CallsLoad::live(std::uint32_t caller) {
  Random random = random_.fork();
  const auto life = std::make_shared<Life>();
  life->caller = caller;
  life->number = lives_[caller];
  life->client = std::make_unique<CallClient>(
      Host(world_.loop(), world_.caller(caller).nic(), nullptr, plan_.faults, {}, 2 + caller),
      rpc::calls::CallClientOptions{
          .name = "caller-" + std::to_string(caller),
          .secret = caller,
          .holder = random.next(),
          .ring_bytes = plan_.ring_bytes,
          .window = plan_.window,
          .form = plan_.form,
          .most_together = plan_.most_together,
          .most_batches = static_cast<std::uint32_t>(random.between(1, 4)),
          .timeout_ns = 1'000'000,
          .connect = {.timeout_ns = 30'000, .retry_count = 4, .rnr_delay_ns = 10'000}});
  life->streams = plan_.streams;
  for (std::uint32_t i = 0; i < plan_.streams; ++i) {
    world_.caller(caller).spawn(stream(life, random.fork()));
  }
  while (life->streams != 0 || life->open != 0) {
    if (!life->is_joined) {
      life->is_joined = co_await connect(*life);
      continue;
    }
    co_await world_.loop().sleep_for(random.between(1'000, sign_of_life_ns));
    slowed_down_ += life->client->is_to_slow_down() ? 1u : 0u;
    Status alive = life->client->failure();
    if (alive.ok()) {
      alive = co_await life->client->ping();
    }
    if (!alive.ok()) {
      life->is_joined = false;
      ++rejoined_;
    }
  }
  at_work_[caller] = false;
}

Task<bool> CallsLoad::connect(Life& life) {
  Status status(Code::closed, "there is no server");
  if (world_.calls() != nullptr) {
    const Result<fabric::QueuePairAddress> address = co_await life.client->open();
    if (address.ok() && world_.calls() != nullptr) {
      const Result<fabric::QueuePairAddress> server = world_.calls()->accept(*address);
      status = server.status();
      if (server.ok()) {
        status = co_await life.client->join(*server);
      }
    }
  }
  if (status.ok()) {
    co_return true;
  }
  // Everything else means that it is worth another try.
  if (status.code() != Code::closed && status.code() != Code::timed_out &&
      status.code() != Code::in_use && status.code() != Code::no_space &&
      status.code() != Code::not_found && complaint_.empty()) {
    complaint_ = "a session cannot be resumed: " + std::string(status.message());
  }
  co_await world_.loop().sleep_for(look_again_ns);
  co_return false;
}

std::shared_ptr<CallsLoad::OpenCall> CallsLoad::make_call(Life& life, Random& random) {
  --left_;
  const CallId id = calls_.size() + 1;
  const auto key = static_cast<std::uint32_t>(random.below(plan_.keys));
  const std::uint64_t most = random.chance(1, 4) ? plan_.large_bytes : 60;
  const auto open =
      std::make_shared<OpenCall>(world_.loop(), append_arguments(id, key, random.below(most)));
  open->index = calls_.size();
  calls_.push_back({.id = id,
                    .session = life.caller,
                    .life = life.number,
                    .key = key,
                    .issued_ns = world_.loop().now_ns()});
  ++life.open;
  return open;
}

// Goes on when its calls are persistent; the results come later, or are awaited too.
Task<void> CallsLoad::stream(std::shared_ptr<Life> life, Random random) {
  while (left_ != 0) {
    std::vector<std::shared_ptr<OpenCall>> open;
    std::vector<rpc::calls::Call*> calls;
    for (std::uint64_t n = random.between(1, plan_.most_together); n != 0 && left_ != 0; --n) {
      open.push_back(make_call(*life, random));
      calls.push_back(&open.back()->call);
    }
    if (const Status issued = life->client->issue(calls); !issued.ok()) {
      complaint_ = "a call cannot be issued: " + std::string(issued.message());
      co_return;
    }
    for (const std::shared_ptr<OpenCall>& one : open) {
      co_await one->call.persistent();
      if (!one->call.answered().is_set()) {
        calls_[one->index].persistent_ns = world_.loop().now_ns();
        ++told_persistent_;
        told_by_receiver_ += life->client->receiver_flushes() ? 1u : 0u;
      }
      if (plan_.waits_for_results) {
        co_await await_answer(life, one);
      } else {
        world_.caller(life->caller).spawn(await_answer(life, one));
      }
    }
    if (plan_.longest_pause_ns != 0) {
      co_await world_.loop().sleep_for(random.below(plan_.longest_pause_ns));
    }
  }
  --life->streams;
}

Task<void> CallsLoad::await_answer(std::shared_ptr<Life> life, std::shared_ptr<OpenCall> open) {
  co_await open->call.answered();
  if (open->call.code() != Code::ok) {
    complaint_ = "a call was answered with a failure: " + std::string(as_text(open->call.result()));
  }
  MadeCall& made = calls_[open->index];
  made.answered_ns = world_.loop().now_ns();
  made.place = place_of(open->call.result());
  ++answered_;
  --life->open;
}

}  // namespace remora::lab
