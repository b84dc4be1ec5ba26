// R1 to R4.
#include <algorithm>

#include "tests/fabric/contract.h"

namespace remora::fabric::contract {
namespace {

constexpr AccessFlags without(AccessFlags right) {
  return every_access & ~right;
}

struct Trespass {
  const char* what;
  AccessFlags region_rights;
  AccessFlags queue_pair_rights;
  SendWork (*make)(Pair&);
};

SendWork with_immediate(SendWork write) {
  write.opcode = Opcode::write_imm;
  write.immediate = 7;
  return write;
}

std::uint64_t far_size(Pair& pair) {
  return pair.far.memory->bytes().size();
}

// Each list is held up to a new world: who trespasses too often is cut off.
const Trespass trespasses_on_a_region[] = {
    {"a key that nobody gave out", every_access, every_access,
     [](Pair& pair) {
       SendWork work = pair.write(1, 0, 0, 64);
       work.remote.key ^= 0x5a5a;
       return work;
     }},
    {"past the end", every_access, every_access,
     [](Pair& pair) { return pair.write(1, 0, far_size(pair) - 63, 64); }},
    {"a long write past the end", every_access, every_access,
     [](Pair& pair) { return pair.write(1, 0, far_size(pair) - 20'000, 20'001); }},
    {"before the start", every_access, every_access,
     [](Pair& pair) {
       SendWork work = pair.read(1, 0, 0, 64);
       work.remote.address -= 8;
       return work;
     }},
    {"around the end of the address space", every_access, every_access,
     [](Pair& pair) {
       SendWork work = pair.write(1, 0, 0, 64);
       work.remote.address = ~std::uint64_t{0} - 7;
       return work;
     }},
    {"WRITE without the region's right", without(remote_write), every_access,
     [](Pair& pair) { return pair.write(1, 0, 0, 64); }},
    {"READ without the region's right", without(remote_read), every_access,
     [](Pair& pair) { return pair.read(1, 0, 0, 64); }},
    {"atomic without the region's right", without(remote_atomic), every_access,
     [](Pair& pair) { return pair.fetch_add(1, 0, 0, 1); }},
    {"FLUSH without the region's right", without(flush_persistence), every_access,
     [](Pair& pair) { return pair.flush(1, 0, 64); }},
    {"ATOMIC WRITE without the region's right", without(remote_write), every_access,
     [](Pair& pair) { return pair.atomic_write(1, 0, 1); }},
    {"WRITE with IMM without the region's right", without(remote_write), every_access,
     [](Pair& pair) { return with_immediate(pair.write(1, 0, 0, 64)); }},
    {"FLUSH to visibility without the region's right", without(flush_visibility), every_access,
     [](Pair& pair) { return pair.flush(1, 0, 64, FlushPlacement::visibility); }},
    {"FLUSH of a whole region without its right", without(flush_persistence), every_access,
     [](Pair& pair) {
       SendWork work = pair.flush(1, 0, 64);
       work.flush_select = FlushSelect::region;
       return work;
     }},
};

const Trespass trespasses_on_a_queue_pair[] = {
    {"WRITE without the queue pair's right", every_access, without(remote_write),
     [](Pair& pair) { return pair.write(1, 0, 0, 64); }},
    {"WRITE of nothing without the queue pair's right", every_access, without(remote_write),
     [](Pair& pair) { return pair.write(1, 0, 0, 0); }},
    {"WRITE of nothing with IMM without the queue pair's right", every_access,
     without(remote_write), [](Pair& pair) { return with_immediate(pair.write(1, 0, 0, 0)); }},
    {"READ of nothing without the queue pair's right", every_access, without(remote_read),
     [](Pair& pair) { return pair.read(1, 0, 0, 0); }},
    {"READ without the queue pair's right", every_access, without(remote_read),
     [](Pair& pair) { return pair.read(1, 0, 0, 64); }},
    {"atomic without the queue pair's right", every_access, without(remote_atomic),
     [](Pair& pair) { return pair.compare_swap(1, 0, 0, 0, 1); }},
};

// Whether the responder knows a FLUSH when it sees one.
bool checks_flushes(const Device& device) {
  const std::vector<Capability>& all = device.attributes().capabilities;
  return std::ranges::none_of(all, [](const Capability& capability) {
    return capability.name == "flush to persistence" && capability.support == Support::emulated;
  });
}

void hold_off(World& world, std::span<const Trespass> trespasses) {
  for (const Trespass& trespass : trespasses) {
    SCOPED_TRACE(trespass.what);
    const AccessFlags flush_rights = flush_persistence | flush_visibility;
    if ((trespass.region_rights & flush_rights) != flush_rights && !checks_flushes(world.far())) {
      continue;
    }
    PairOptions options;
    options.far_access = trespass.region_rights;
    options.far = world.connect_options();
    options.far->remote_access = trespass.queue_pair_rights;
    Pair pair(world, options);
    pair.fill_near(0, 32'768, 3);
    pair.post_receive(9, 0, 64);
    const ConstBytes now = pair.far_now();
    const std::vector<std::byte> before(now.begin(), now.end());
    const WorkStatus status = pair.status_of(trespass.make(pair));
    EXPECT_TRUE(world.says(WorkStatus::remote_access_error, status)) << to_string(status);
    EXPECT_EQ(pair.near.qp->state(), QpState::error);
    EXPECT_TRUE(world.run_until([&] { return pair.far.qp->state() == QpState::error; }));
    EXPECT_TRUE(pair.far_holds(0, before));
  }
}

SENTENCE(R1, a_trespass_on_a_region_changes_nothing_and_ends_both_queue_pairs) {
  hold_off(world, trespasses_on_a_region);
}

SENTENCE(R1, a_trespass_on_a_queue_pair_changes_nothing_and_ends_both_queue_pairs) {
  hold_off(world, trespasses_on_a_queue_pair);
}

SENTENCE(R1, a_key_of_another_domain_is_worth_nothing) {
  Pair pair(world);
  const std::unique_ptr<ProtectionDomain> elsewhere = world.far().create_domain();
  std::vector<std::byte> memory(4096, std::byte{1});
  const Result<std::unique_ptr<MemoryRegion>> region =
      elsewhere->register_memory(memory, local_write | remote_write);
  ASSERT_TRUE(region.ok());
  SendWork work = pair.write(1, 0, 0, 64);
  work.remote = region.value()->remote(0);
  EXPECT_EQ(pair.status_of(work), WorkStatus::remote_access_error);
  EXPECT_TRUE(same(world.look(memory), std::vector<std::byte>(4096, std::byte{1})));
}

// What lies behind its end stays out of reach until then, and is in reach from then on.
SENTENCE(R1, a_region_that_was_extended_is_reached_to_its_new_end) {
  constexpr std::uint64_t half = 64 << 10;
  const Bytes memory = world.far_region().bytes().first(2 * half);
  const auto make = [&](Pair& pair) {
    return std::move(pair.far.domain->register_memory(memory.first(half), every_access,
                                                      &world.far_region()))
        .value();
  };
  const auto write_behind = [](Pair& pair, const MemoryRegion& region) {
    SendWork work = pair.write(1, 0, 0, 64);
    work.remote = region.remote(half - 32);
    return work;
  };
  {
    Pair pair(world);
    const std::unique_ptr<MemoryRegion> region = make(pair);
    EXPECT_TRUE(
        world.says(WorkStatus::remote_access_error, pair.status_of(write_behind(pair, *region))));
  }
  Pair pair(world);
  const std::unique_ptr<MemoryRegion> region = make(pair);
  const RemoteKey key = region->remote_key();
  pair.fill_near(0, 64, 5);
  SendWork within_it = write_behind(pair, *region);
  within_it.remote = region->remote(0);
  EXPECT_EQ(pair.status_of(within_it), WorkStatus::success);
  if (!region->extend(2 * half)) {
    return;  // the device cannot, and says so
  }
  EXPECT_EQ(region->remote_key(), key);
  EXPECT_EQ(region->bytes().size(), 2 * half);
  EXPECT_EQ(region->bytes().data(), memory.data());
  // Often enough for every short way to be found again. A READ sees what was written before (P3).
  for (std::uint64_t id = 2; id < 200; ++id) {
    const RemoteAddress place = region->remote(half - 32 + 64 * id);
    SendWork write = pair.write(2 * id, 0, 0, 64);
    write.remote = place;
    ASSERT_EQ(pair.status_of(write), WorkStatus::success) << id;
    SendWork read = pair.read(2 * id + 1, 1024, 0, 64);
    read.remote = place;
    ASSERT_EQ(pair.status_of(read), WorkStatus::success) << id;
    ASSERT_TRUE(same(Pair::pattern(64, 5), ConstBytes(pair.near_at(1024), 64))) << id;
    pair.fill_near(1024, 64, 6);
  }
  EXPECT_FALSE(region->extend(half)) << "it never becomes smaller";
  SendWork past = write_behind(pair, *region);
  past.remote = region->remote(2 * half - 32);
  EXPECT_TRUE(world.says(WorkStatus::remote_access_error, pair.status_of(past)));
}

SENTENCE(R2, a_wrong_local_piece_fails_before_anything_is_sent) {
  for (int which = 0; which < 4; ++which) {
    Pair pair(world);
    const Result<std::unique_ptr<MemoryRegion>> read_only =
        pair.near.domain->register_memory(pair.near.memory->bytes().first(4096), local_read);
    ASSERT_TRUE(read_only.ok());
    Sge piece = pair.near.memory->piece(0, 64);
    SendWork work = pair.write(1, 0, 0, 64);
    work.pieces = std::span(&piece, 1);
    switch (which) {
      case 0:
        piece.key ^= 0x77;
        break;
      case 1:
        piece.address += near_bytes - 63;
        break;
      case 2:
        piece.address -= 1;
        break;
      default:  // a READ stores into its pieces
        work.opcode = Opcode::read;
        piece.key = read_only.value()->local_key();
    }
    pair.fill_near(0, 64, 1);
    const std::uint64_t allowed =
        world.error_notices() + (which == 3 ? world.packets_of_a_wrong_read() : 0);
    const std::uint64_t sent = world.near_counters().packets_sent;
    const WorkStatus status = pair.status_of(work);
    EXPECT_TRUE(world.says(WorkStatus::local_protection_error, status)) << to_string(status);
    EXPECT_LE(world.near_counters().packets_sent, sent + allowed) << which;
    EXPECT_TRUE(pair.far_holds(0, std::vector<std::byte>(64))) << which;
  }
}

SENTENCE(R3, keys_of_a_destroyed_region_are_worth_nothing) {
  Pair pair(world);
  pair.fill_near(0, 64, 1);
  const SendWork work = pair.write(2, 0, 4096, 64);
  const Bytes memory = pair.far.memory->bytes();
  pair.far.memory.reset();
  EXPECT_EQ(pair.status_of(work), WorkStatus::remote_access_error);
  EXPECT_EQ(world.look(memory.subspan(4096, 1))[0], std::byte{0});
}

SENTENCE(R3, a_region_goes_only_when_nothing_uses_its_memory) {
  Pair pair(world);
  pair.fill_near(0, 64, 1);
  EXPECT_EQ(pair.status_of(pair.write(1, 0, 0, 64)), WorkStatus::success);
  const Bytes memory = pair.far.memory->bytes();
  pair.far.memory.reset();
  const std::vector<std::byte> written = Pair::pattern(64, 1);
  EXPECT_TRUE(same(written, world.look(memory.first(64))))
      << "bytes that were acknowledged are still on their way into memory that may be used anew";
}

SENTENCE(R3, local_keys_of_a_destroyed_region_are_worth_nothing) {
  Pair pair(world);
  const SendWork work = pair.send(1, 0, 64);
  pair.near.memory.reset();
  const WorkStatus status = pair.status_of(work);
  EXPECT_TRUE(world.says(WorkStatus::local_protection_error, status)) << to_string(status);
}

SENTENCE(R4, a_peer_that_guesses_keys_is_cut_off) {
  constexpr int patience = 100;
  int refused = 0;
  WorkStatus status = WorkStatus::remote_access_error;
  for (; refused < patience && status == WorkStatus::remote_access_error; ++refused) {
    Pair pair(world);
    if (!pair.connected()) {
      break;
    }
    SendWork work = pair.write(1, 0, 0, 64);
    work.remote.key += static_cast<RemoteKey>(1 + refused);
    status = pair.status_of(work);
  }
  EXPECT_GT(refused, 1) << "one mistake is no attack";
  EXPECT_LT(refused, patience) << "nobody cut the peer off";
  Pair pair(world);
  if (pair.connected()) {
    EXPECT_NE(pair.status_of(pair.write(1, 0, 0, 64)), WorkStatus::success);
  }
}

}  // namespace
}  // namespace remora::fabric::contract
