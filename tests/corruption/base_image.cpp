#include "tests/corruption/base_image.h"

#include <fmt/core.h>

#include <array>
#include <memory>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/random.h"
#include "fabric/nic/wire/sim/sim_network.h"
#include "kv/local_store.h"
#include "kv/store.h"
#include "lab/subjects/stores/plan.h"
#include "lab/world/node.h"
#include "pmem/pool.h"
#include "runtime/virtual_loop.h"

namespace remora::corruption {
namespace {

constexpr std::size_t pool_bytes = 2 << 20;
constexpr std::size_t created_bytes = 512 << 10;  // of a pool that is grown
constexpr std::uint32_t flows = 6;
constexpr std::uint32_t keys_of_flow = 40;
constexpr std::uint32_t rounds = 420;  // of each flow
constexpr std::uint32_t rounds_of_rival = 60;
constexpr std::uint32_t stale_after = 2000;  // operations of all of them
constexpr std::uint64_t turns_per_tending = 40;
constexpr std::uint64_t hour_ms = 3'600'000;
// Time is short here: marks follow sooner, and what is behind them is as much as elsewhere.
constexpr std::uint64_t mark_every_ns = 200'000;
constexpr std::uint64_t pause_ns = 20'000'000;

struct Program {
  std::unique_ptr<Pool> pool;
  std::unique_ptr<kv::StoreServer> store;
};

class Making {
 public:
  Making(Ending ending, Granularity granularity, std::uint64_t seed, const kv::Engine& engine)
      : engine_(engine),
        is_rival_(&engine != kv::engines().front()),
        rounds_(is_rival_ ? rounds_of_rival : rounds),
        ending_(ending),
        random_(seed),
        loop_({.seed = seed}),
        network_(loop_, lab::nic_of_the_crash_world(), lab::memory_of_the_crash_world(),
                 random_.fork()),
        server_(loop_, network_,
                {.memory_bytes = pool_bytes,
                 .platform = {.granularity = granularity},
                 .seed = random_.next()}),
        near_(loop_, network_, {.memory_bytes = page_bytes, .seed = random_.next()}) {
    loop_.add_cores(4);
  }

  BaseImage make() {
    start();
    for (std::uint32_t flow = 0; flow < flows; ++flow) {
      near_.spawn(work(flow, random_.fork()));
    }
    const std::uint64_t until =
        ending_ == Ending::clean_stop ? flows * rounds_ : flows * rounds_ / 2;
    std::uint64_t turns = 0;
    while (operations_ < until) {
      (void)loop_.run_for(10'000);
      if (++turns % turns_per_tending == 0) {
        REMORA_CHECK(program_->pool->tend().ok(), "a pool could not be tended");
      }
      if (image_.stale.empty() && operations_ >= std::min<std::uint64_t>(until / 2, stale_after)) {
        image_.stale = copy();
      }
    }
    end();
    return std::move(image_);
  }

 private:
  void start() {
    program_ = &server_.start<Program>();
    // On page media the pool was grown, so that half of the images have extensions.
    const bool grown = server_.region().granularity() == Granularity::page;
    program_->pool =
        Pool::create(server_.region(), {}, Faults(), grown ? created_bytes : pool_bytes).value();
    REMORA_CHECK(!grown || program_->pool->grow(pool_bytes).ok(), "a pool could not grow");
    program_->store =
        engine_
            .start_server(Host(loop_, server_.nic(), &server_.region()), *program_->pool,
                          {.create = true,
                           .expected_keys = 512,
                           .clean_at_percent = 50,
                           .mark_every_ns = mark_every_ns})
            .value();
    std::unique_ptr<kv::PendingClient> pending =
        engine_.start_client(Host(loop_, near_.nic(), nullptr, Faults(), {}, 2), {}).value();
    const kv::PeerAddress address = program_->store->accept(pending->address()).value();
    auto& kept = near_.start<std::unique_ptr<kv::StoreClient>>(
        loop_.block_on(pending->connect(address)).value());
    client_ = kept.get();
  }

  void end() {
    if (ending_ == Ending::clean_stop) {
      while (program_->store->busy() || operations_ < flows * rounds_) {
        (void)loop_.run_for(100'000);
      }
      stop_in_order();
      image_.bytes = copy();
    } else if (ending_ == Ending::kill) {
      image_.bytes = copy();
    } else {
      server_.cut_power();
      image_.bytes = copy();
    }
    near_.cut_power();
    if (server_.powered()) {
      server_.cut_power();
    }
  }

  void stop_in_order() {
    REMORA_CHECK(program_->store->finish().ok(), "an orderly stop failed");
    REMORA_CHECK(program_->pool->close().ok(), "a pool could not be closed");
  }

  std::vector<std::byte> copy() {
    const ConstBytes visible = server_.memory().visible();
    return {visible.begin(), visible.end()};
  }

  static std::string value_of(const std::string& key, std::uint64_t number, Random& random) {
    constexpr std::array<std::size_t, 8> sizes = {0, 8, 60, 64, 300, 1000, 4096, 9000};
    const bool large = random.chance(1, 200);
    const std::size_t size = large ? 40'000 : sizes[random.below(sizes.size())];
    std::string value = fmt::format("{}#{}:", key, number);
    while (value.size() < size) {
      value += static_cast<char>('a' + random.below(26));
    }
    return value;
  }

  // Each flow has keys of its own, and one operation at a time: so what a key may be is known.
  Task<void> work(std::uint32_t flow, Random random) {
    for (std::uint32_t round = 0; round < rounds_; ++round) {
      const std::string key = fmt::format("key-{}-{}", flow, random.below(keys_of_flow));
      BaseImage::Allowed& allowed =
          image_.allowed.try_emplace(key, BaseImage::Allowed{{}, true}).first->second;
      if (random.chance(1, 5)) {
        allowed.none = true;
        REMORA_CHECK((co_await client_->del(as_bytes(key))).ok(), "a del of the base image failed");
        allowed = {{}, true};
      } else {
        const std::string value = value_of(key, round, random);
        allowed.values.insert(value);
        image_.ever[key].insert(value);
        co_await put(key, value, random);
        allowed = {{value}, false};
      }
      ++operations_;
      if (random.chance(1, 40)) {
        co_await loop_.sleep_for(pause_ns);
      }
    }
  }

  Task<void> put(const std::string& key, const std::string& value, Random& random) {
    Status status;
    const std::uint64_t kind = random.below(is_rival_ ? 2 : 4);
    if (kind < 2) {
      const kv::PutOptions options = {kind == 0 ? kv::Durability::standard
                                                : kv::Durability::persistent};
      do {
        status = co_await client_->put(as_bytes(key), as_bytes(value), options);
      } while (status.code() == Code::in_use);
    } else {
      kv::LocalStore& local = *program_->store->local();
      const ConstBytes bytes = as_bytes(value);
      const std::uint64_t expires = kind == 3 ? loop_.wall_ms() + hour_ms : 0;
      Result<kv::LocalStore::Mark> mark = local.put(as_bytes(key), std::span(&bytes, 1), expires);
      Status room;
      while (mark.code() == Code::no_space && room.ok()) {
        room = co_await local.room();
        if (room.ok()) {
          mark = local.put(as_bytes(key), std::span(&bytes, 1), expires);
        }
      }
      status = mark.status();
    }
    REMORA_CHECK(status.ok(), "a put of the base image failed");
  }

  const kv::Engine& engine_;
  const bool is_rival_;
  const std::uint32_t rounds_;  // of each flow
  const Ending ending_;
  Random random_;
  VirtualLoop loop_;
  fabric::nic::sim::SimNetwork network_;
  lab::Node server_;
  lab::Node near_;
  Program* program_ = nullptr;
  kv::StoreClient* client_ = nullptr;
  std::uint64_t operations_ = 0;
  BaseImage image_;
};

constexpr std::string_view name_of(Ending ending) {
  switch (ending) {
    case Ending::clean_stop:
      return "clean stop";
    case Ending::kill:
      return "kill -9";
    case Ending::power_cut:
      return "power cut";
  }
  return "";
}

}  // namespace

BaseImage make_base_image(Ending ending, Granularity granularity, std::uint64_t seed,
                          const kv::Engine& engine) {
  BaseImage image = Making(ending, granularity, seed, engine).make();
  image.ending = ending;
  image.name =
      fmt::format("{}, {}", name_of(ending), granularity == Granularity::page ? "pages" : "lines");
  return image;
}

}  // namespace remora::corruption
