#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/size_text.h"
#include "bench/bare_memory.h"
#include "bench/nic/cast.h"
#include "bench/walk.h"

namespace remora::bench {
namespace {

constexpr std::size_t mapped_sizes[] = {64, 4096, 65536};
constexpr double persist_target_ratio = 1.3;
constexpr double rate_target_ratio = 2.0;

double copy_target_ratio(std::size_t size_bytes) {
  return size_bytes == 64 ? 2.0 : 1.2;
}

// Two claims about a READ. At a depth of 1 the next begins when the last has ended: so
// it is where each address comes out of the READ before, and that is the claim at that depth. A
// loop of memcpys that know nothing of each other has as many of them under way as the processor
// has room for: it is the harder limit. A WRITE brings nothing that the next could wait for, so the
// harder one is the only one that it has.
Wording chained_wording(std::size_t size_bytes) {
  return {fmt::format("mapped-read-chained/{}", size_bytes),
          fmt::format("A READ of {} on mapped at a depth of 1, each from where the one before "
                      "leads, costs little more than such memcpys",
                      format_size(size_bytes)),
          "memcpy from the same cold memory, and then from where that leads",
          copy_target_ratio(size_bytes)};
}

Wording copy_wording(Verb verb, std::size_t size_bytes) {
  const bool write = verb == Verb::write;
  return {
      fmt::format("mapped-{}/{}", write ? "write" : "read", size_bytes),
      fmt::format("{}s of {} on mapped, none of which waits for another, cost little more than "
                  "memcpys that overlap",
                  write ? "WRITE" : "READ", format_size(size_bytes)),
      "memcpys to or from the same cold memory, as many at a time as the processor has room for",
      copy_target_ratio(size_bytes)};
}

Wording persist_wording(std::size_t size_bytes) {
  return {fmt::format("mapped-persist/{}", size_bytes),
          fmt::format("A WRITE and FLUSH of {} on mapped costs little more than bare instructions",
                      format_size(size_bytes)),
          "non-temporal stores + sfence to the same cold memory", persist_target_ratio};
}

Wording rate_wording() {
  return {"mapped-rate/64", "WRITEs of 64 B on mapped reach half the rate of UCX posix",
          "uct_ep_put_short on posix, which checks nothing", rate_target_ratio};
}

// Something done to every place of the target's memory, on a walk as the contenders walk.
template <typename Operation>
Side along(Contender& mapped, std::size_t size_bytes, Operation operation) {
  return [=, walk = Walk(target_bytes / size_bytes, target_bytes / size_bytes / 2),
          local = mapped.local().data(),
          target = mapped.view().data()](std::uint64_t operations) mutable {
    for (; operations > 0; --operations) {
      operation(local, target + walk.next() * size_bytes, size_bytes);
    }
  };
}

Side bare_copy(Contender& mapped, Verb verb, std::size_t size_bytes) {
  if (verb == Verb::write) {
    return along(mapped, size_bytes, [](std::byte* local, std::byte* target, std::size_t size) {
      std::memcpy(target, local, size);
    });
  }
  return along(mapped, size_bytes, [](std::byte* local, std::byte* target, std::size_t size) {
    std::memcpy(local, target, size);
  });
}

Side chained_copy(Contender& mapped, std::size_t size_bytes) {
  return [=, walk = Walk(target_bytes / size_bytes, target_bytes / size_bytes / 2),
          local = mapped.local().data(),
          target = mapped.view().data()](std::uint64_t operations) mutable {
    const std::size_t zero = hidden_zero();
    for (; operations > 0; --operations) {
      const std::size_t leads = load<std::uint64_t>(local + size_bytes - word_bytes) * zero;
      std::memcpy(local, target + walk.next() * size_bytes + leads, size_bytes);
    }
  };
}

Result<Claim> measure_chained(Cast& cast, Contender& mapped, std::size_t size_bytes) {
  Stage& stage = cast.stage();
  REMORA_TRY_RESULT(series,
                    stage.measure({stage.side(mapped, {Verb::read, size_bytes, 1, false, true}),
                                   stage.alone(chained_copy(mapped, size_bytes))},
                                  cast.plan()));
  return compare(chained_wording(size_bytes), *series, 0, 1);
}

Result<Claim> measure_copy(Cast& cast, Contender& mapped, Verb verb, std::size_t size_bytes) {
  Stage& stage = cast.stage();
  REMORA_TRY_RESULT(series, stage.measure({stage.side(mapped, {verb, size_bytes, 1, false}),
                                           stage.alone(bare_copy(mapped, verb, size_bytes))},
                                          cast.plan()));
  return compare(copy_wording(verb, size_bytes), *series, 0, 1);
}

// The limit is the quickest of the bare ways that this machine has.
Result<Claim> measure_persist(Cast& cast, Contender& mapped, std::size_t size_bytes) {
  Stage& stage = cast.stage();
  const std::vector<BareWay> ways = ways_to_stream();
  std::vector<Side> sides = {stage.side(mapped, {Verb::write, size_bytes, 1, true})};
  for (const BareWay& way : ways) {
    sides.push_back(stage.alone(along(
        mapped, size_bytes, [run = way.run](std::byte* local, std::byte* target, std::size_t size) {
          run(target, local, size);
        })));
  }
  REMORA_TRY_RESULT(series, stage.measure(sides, cast.plan()));
  std::size_t best = 1;
  for (std::size_t i = 2; i < sides.size(); ++i) {
    if (spread_of(series->each_ns[i]).median < spread_of(series->each_ns[best]).median) {
      best = i;
    }
  }
  Wording wording = persist_wording(size_bytes);
  wording.limit = fmt::format("{}, to the same cold memory", ways[best - 1].name);
  return compare(std::move(wording), *series, 0, best);
}

Result<Claim> measure_rate(Cast& cast, Contender& mapped) {
  Result<Contender*> posix = cast.get(Role::ucx_posix);
  if (!posix.ok()) {
    return skip(rate_wording(), std::string(posix.status().message()));
  }
  Stage& stage = cast.stage();
  const Shape shape{Verb::write, 64, most_depth, false};
  REMORA_TRY_RESULT(
      series, stage.measure({stage.side(mapped, shape), stage.side(**posix, shape)}, cast.plan()));
  return compare(rate_wording(), *series, 0, 1);
}

Claims skip_all(const std::string& since) {
  Claims claims;
  for (const std::size_t size_bytes : mapped_sizes) {
    claims.push_back(skip(copy_wording(Verb::write, size_bytes), since));
    claims.push_back(skip(copy_wording(Verb::read, size_bytes), since));
    claims.push_back(skip(persist_wording(size_bytes), since));
    claims.push_back(skip(chained_wording(size_bytes), since));
  }
  claims.push_back(skip(rate_wording(), since));
  return claims;
}

}  // namespace

Result<Claims> measure_mapped(Cast& cast) {
  Result<Contender*> got = cast.get(Role::mapped);
  if (!got.ok()) {
    return skip_all(std::string(got.status().message()));
  }
  Contender& mapped = **got;
  std::vector<Result<Claim>> measured;
  for (const std::size_t size_bytes : mapped_sizes) {
    measured.push_back(measure_copy(cast, mapped, Verb::write, size_bytes));
    measured.push_back(measure_copy(cast, mapped, Verb::read, size_bytes));
    measured.push_back(measure_persist(cast, mapped, size_bytes));
    measured.push_back(measure_chained(cast, mapped, size_bytes));
  }
  measured.push_back(measure_rate(cast, mapped));
  Claims claims;
  for (Result<Claim>& claim : measured) {
    REMORA_TRY(claim.status());
    claims.push_back(std::move(claim).value());
  }
  return claims;
}

}  // namespace remora::bench
