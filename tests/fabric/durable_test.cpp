// D1 to D12.
#include <algorithm>
#include <array>
#include <cstring>

#include "fabric/message_log.h"
#include "tests/fabric/contract.h"

namespace remora::fabric::contract {
namespace {

// Where the log lies in far's memory.
constexpr MessageLogOptions some_places = {.offset = 8192, .place_bytes = 1024, .places = 4};

MessageLogOptions ordered(MessageLogOptions options) {
  options.ordered = true;
  return options;
}
MessageLogOptions by_itself(MessageLogOptions options) {
  options.by_itself = true;
  return options;
}

SendWork flush_imm(Pair& pair, std::uint64_t id, std::size_t offset, std::size_t size,
                   std::uint32_t immediate) {
  SendWork work = pair.flush(id, offset, size);
  work.opcode = Opcode::flush_imm;
  work.immediate = immediate;
  return work;
}

SendWork flush_payload(Pair& pair, std::uint64_t id, std::size_t offset, std::size_t size,
                       const RemoteAddress& word, std::uint64_t value) {
  SendWork work = pair.flush(id, offset, size);
  work.opcode = Opcode::flush_payload;
  work.word = word;
  work.operand = value;
  return work;
}

SendWork sflush(std::uint64_t id, const Sge& place) {
  return {.id = id, .opcode = Opcode::sflush, .pieces = std::span(&place, 1)};
}

bool survives_word(World& world, std::size_t offset, std::uint64_t value) {
  return world.survives(offset, object_bytes(value));
}

SENTENCE(D1, what_the_peer_has_not_agreed_to_is_not_sent) {
  Pair pair(world);
  EXPECT_EQ(pair.near.qp->agreed().verbs, all_vendor_verbs);
  Pair unconnected(world, {.transport = Transport::uc});
  const SendWork works[] = {flush_imm(pair, 1, 0, 64, 7),
                            flush_payload(pair, 2, 0, 64, pair.far.memory->remote(64), 7),
                            {.id = 3, .opcode = Opcode::sflush}};
  for (const SendWork& work : works) {
    EXPECT_TRUE(unconnected.is_refused(work)) << to_string(work.opcode);
  }
}

SENTENCE(D2, a_flush_with_immediate_is_told_when_its_bytes_are_persistent) {
  Pair pair(world);
  for (std::uint64_t i = 0; i < 5; ++i) {
    pair.fill_near(0, 3000, i);
    pair.post(pair.write(3 * i, 0, 100, 3000));
    pair.post(flush_imm(pair, 3 * i + 1, 100, 3000, 70 + static_cast<std::uint32_t>(i)));
    if (i % 2 == 0) {
      pair.post_receive(i, 0, 64);
    } else {
      EXPECT_FALSE(pair.holds_soon([&] { return pair.far.receives.size() > i; }));
      pair.post_receive(i, 0, 0);
    }
    pair.wait_receives(i + 1);
    ASSERT_GT(pair.far.receives.size(), i);
    const WorkCompletion& told = pair.far.receives[i];
    EXPECT_EQ(told.id, i);
    EXPECT_EQ(told.opcode, Opcode::receive_imm);
    EXPECT_TRUE(told.has_immediate);
    EXPECT_EQ(told.immediate, 70 + i);
    EXPECT_TRUE(world.survives(100, Pair::pattern(3000, i))) << i;
    pair.wait_sends(2 * i + 2);
  }
  EXPECT_TRUE(all_succeeded(pair.near.sends));
}

// Until it has completed, whenever the word would survive, so would the bytes.
SENTENCE(D3, the_word_of_a_flush_comes_after_its_bytes_and_is_persistent_with_it) {
  Pair pair(world);
  for (std::uint64_t i = 1; i < 6; ++i) {
    pair.fill_near(0, 2000, i);
    const std::vector<std::byte> bytes = Pair::pattern(2000, i);
    pair.post(pair.write(2 * i, 0, 4096, 2000));
    pair.post(flush_payload(pair, 2 * i + 1, 4096, 2000, pair.far.memory->remote(512), 900 + i));
    EXPECT_TRUE(world.run_until([&] {
      pair.near.poll();
      if (pair.far_word(512) == 900 + i) {
        EXPECT_TRUE(world.survives(4096, bytes)) << i;
      }
      return pair.near.sends.size() >= 2 * i;
    }));
    EXPECT_TRUE(survives_word(world, 512, 900 + i));
    EXPECT_TRUE(world.survives(4096, bytes));
  }
  EXPECT_TRUE(all_succeeded(pair.near.sends));
  EXPECT_TRUE(pair.is_refused(flush_payload(pair, 99, 0, 64, pair.far.memory->remote(12), 1)));
}

SENTENCE(D4, the_word_needs_rights_of_its_own) {
  for (const AccessFlags less : {AccessFlags{remote_write}, AccessFlags{flush_persistence}}) {
    Pair pair(world);
    auto second = pair.far.domain->register_memory(world.far_region().bytes().subspan(0, 4096),
                                                   every_access & ~less, &world.far_region());
    auto whole = pair.far.domain->register_memory(world.far_region().bytes().subspan(0, 4096),
                                                  every_access, &world.far_region());
    ASSERT_TRUE(second.ok() && whole.ok());
    pair.fill_near(0, 64, 1);
    EXPECT_EQ(pair.status_of(pair.write(1, 0, 8192, 64)), WorkStatus::success);
    EXPECT_EQ(pair.status_of(flush_payload(pair, 2, 8192, 64, (*whole)->remote(8), 5)),
              WorkStatus::success);
    EXPECT_EQ(pair.far_word(8), 5u);
    const WorkStatus refused =
        pair.status_of(flush_payload(pair, 3, 8192, 64, (*second)->remote(8), 6));
    EXPECT_TRUE(world.says(WorkStatus::remote_access_error, refused));
    EXPECT_EQ(pair.far_word(8), 5u);
    pair.far.qp.reset();
  }
}

SENTENCE(D5, a_receive_is_told_when_its_message_is_persistent_in_the_log) {
  Pair pair(world, {.log = some_places});
  const Sge place = pair.near.memory->piece(65'536, word_bytes);
  for (std::uint64_t i = 0; i < 10; ++i) {
    pair.post_receive(i, 4096 * (i % 3), 1024);
    pair.fill_near(0, 1000, i);
    pair.post(pair.send(2 * i, 0, 1000));
    EXPECT_FALSE(pair.holds_soon([&] { return pair.far.receives.size() > i; }));
    pair.post(sflush(2 * i + 1, place));
    pair.wait_receives(i + 1);
    ASSERT_GT(pair.far.receives.size(), i);
    const WorkCompletion& told = pair.far.receives[i];
    EXPECT_EQ(told.opcode, Opcode::receive_logged);
    EXPECT_EQ(told.id, i);
    EXPECT_EQ(told.immediate, i % some_places.places);
    EXPECT_EQ(told.size_bytes, 1000u);
    const std::uint64_t at = pair.far.log->offset_of(i);
    EXPECT_TRUE(world.survives(at, Pair::pattern(1000, i))) << i;
    EXPECT_TRUE(pair.far_holds(at, Pair::pattern(1000, i))) << i;
    pair.wait_sends(2 * i + 2);
    EXPECT_EQ(load<std::uint64_t>(pair.near_at(65'536)), i);
    pair.far.log->give_back(1);
  }
  EXPECT_TRUE(all_succeeded(pair.near.sends));
}

SENTENCE(D6, one_sflush_moves_all_that_was_sent_before_it) {
  Pair pair(world, {.log = some_places});
  const Sge place = pair.near.memory->piece(65'536, word_bytes);
  for (std::uint64_t i = 0; i < 3; ++i) {
    pair.post_receive(i, 4096 * i, 1024);
    pair.fill_near(1024 * i, 500 + 8 * i, i);
    pair.post(pair.send(i, 1024 * i, 500 + 8 * i));
  }
  EXPECT_EQ(pair.status_of(sflush(3, place)), WorkStatus::success);
  pair.wait_sends(4);
  EXPECT_EQ(load<std::uint64_t>(pair.near_at(65'536)), 2u);
  pair.wait_receives(3);
  EXPECT_EQ(ids_of(pair.far.receives), (std::vector<std::uint64_t>{0, 1, 2}));
  for (std::uint64_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(world.survives(pair.far.log->offset_of(i), Pair::pattern(500 + 8 * i, i))) << i;
  }
}

// Whenever the first word is there, the rest is persistent.
SENTENCE(D7, the_first_word_of_an_ordered_message_comes_last) {
  for (const bool alone : {false, true}) {
    const MessageLogOptions options = ordered(some_places);
    Pair pair(world, {.log = alone ? by_itself(options) : options});
    const Sge place = pair.near.memory->piece(65'536, word_bytes);
    for (std::uint64_t i = 0; i < 6; ++i) {
      pair.post_receive(i, 0, 1024);
      std::vector<std::byte> bytes = Pair::pattern(960, i);
      store(bytes.data(), 7'000 + i);
      std::memcpy(pair.near_at(0), bytes.data(), bytes.size());
      const std::vector<std::byte> rest(bytes.begin() + cache_line_bytes, bytes.end());
      const std::uint64_t at = pair.far.log->offset_of(i);
      pair.post(pair.send(2 * i, 0, bytes.size()));
      if (!alone) {
        pair.post(sflush(2 * i + 1, place));
      }
      EXPECT_TRUE(world.run_until([&] {
        pair.near.poll();
        pair.far.poll();
        if (pair.far_word(at) == 7'000 + i) {
          EXPECT_TRUE(world.survives(at + cache_line_bytes, rest)) << i;
        }
        return pair.far.receives.size() > i;
      }));
      EXPECT_TRUE(survives_word(world, at, 7'000 + i));
      pair.far.log->give_back(1);
      pair.wait_sends(alone ? i + 1 : 2 * i + 2);
    }
    EXPECT_TRUE(all_succeeded(pair.near.sends));
    pair.far.qp.reset();
  }
}

SENTENCE(D8, a_log_without_room_makes_the_peer_wait) {
  for (const bool alone : {false, true}) {
    Pair pair(world, {.log = alone ? by_itself(some_places) : some_places});
    const Sge place = pair.near.memory->piece(65'536, word_bytes);
    constexpr std::uint64_t messages = 6;
    for (std::uint64_t i = 0; i < messages; ++i) {
      pair.post_receive(i, 4096 * i, 1024);
      pair.fill_near(4096 * i, 700, i);
      pair.post(pair.send(2 * i, 4096 * i, 700));
      if (!alone) {
        pair.post(sflush(2 * i + 1, place));
      }
    }
    pair.wait_receives(some_places.places);
    EXPECT_FALSE(pair.holds_soon([&] { return pair.far.receives.size() > some_places.places; }));
    for (std::uint64_t i = 0; i < some_places.places; ++i) {
      EXPECT_TRUE(pair.far_holds(pair.far.log->offset_of(i), Pair::pattern(700, i))) << i;
    }
    pair.far.log->give_back(some_places.places);
    pair.wait_receives(messages);
    pair.wait_sends(alone ? messages : 2 * messages);
    EXPECT_TRUE(all_succeeded(pair.near.sends));
    for (std::uint64_t i = some_places.places; i < messages; ++i) {
      EXPECT_TRUE(world.survives(pair.far.log->offset_of(i), Pair::pattern(700, i))) << i;
    }
    pair.far.qp.reset();
  }
}

SENTENCE(D9, what_fits_no_place_and_an_sflush_of_nothing_are_refused) {
  {
    Pair pair(world, {.log = some_places});
    EXPECT_TRUE(world.says(WorkStatus::remote_invalid_request,
                           pair.status_of({.id = 1, .opcode = Opcode::sflush})));
    pair.far.qp.reset();
  }
  {
    Pair pair(world);  // no log
    EXPECT_TRUE(world.says(WorkStatus::remote_invalid_request,
                           pair.status_of({.id = 1, .opcode = Opcode::sflush})));
  }
  for (const std::size_t size : {1032u, 56u}) {
    Pair pair(world, {.log = ordered(some_places)});
    pair.post_receive(1, 0, 4096);
    EXPECT_TRUE(
        world.says(WorkStatus::remote_invalid_request, pair.status_of(pair.send(1, 0, size))))
        << size;
    pair.wait_receives(1);
    EXPECT_EQ(pair.far.receives[0].status, WorkStatus::local_length_error);
    pair.far.qp.reset();
  }
}

SENTENCE(D10, what_the_device_persists_by_itself_is_persistent_when_it_completes) {
  {
    Pair pair(world, {.log = by_itself(some_places)});
    for (std::uint64_t i = 0; i < 8; ++i) {
      pair.post_receive(i, 0, 1024);
      pair.fill_near(0, 900, i);
      EXPECT_EQ(pair.status_of(pair.send(i, 0, 900)), WorkStatus::success);
      EXPECT_TRUE(world.survives(pair.far.log->offset_of(i), Pair::pattern(900, i))) << i;
      pair.wait_receives(i + 1);
      EXPECT_EQ(pair.far.receives[i].opcode, Opcode::receive_logged);
      pair.far.log->give_back(1);
    }
    pair.far.qp.reset();
  }
  Pair pair(world, {.far_access = every_access | flushes_writes});
  for (std::uint64_t i = 0; i < 8; ++i) {
    const std::size_t size = i % 2 == 0 ? 200 : 20'000;
    pair.fill_near(0, size, i);
    SendWork write = pair.write(i, 0, 640, size);
    if (i % 4 == 3) {
      pair.post_receive(i, 0, 64);
      write.opcode = Opcode::write_imm;
    }
    EXPECT_EQ(pair.status_of(write), WorkStatus::success);
    EXPECT_TRUE(world.survives(640, Pair::pattern(size, i))) << i;
  }
  pair.wait_receives(2);
}

std::uint64_t told(const Pair& pair, std::uint64_t id) {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(pair.near.sends, [id](const WorkCompletion& completion) {
        return completion.opcode == Opcode::persisted && completion.id == id;
      }));
}

SENTENCE(D11, a_sender_of_what_is_unreliable_is_told_when_it_is_persistent) {
  for (const Transport transport : {Transport::uc, Transport::ud}) {
    Pair pair(
        world,
        {.transport = transport, .told_when_persistent = true, .log = by_itself(some_places)});
    pair.fill_near(0, 200, 7);
    pair.post_receive(1, 0, 1024);
    std::uint64_t tries = 0;
    const bool held = pair.try_until(
        [&](std::uint64_t id) {
          SendWork work = pair.message(id, 0, 200);
          work.compare = 5'000 + tries++;
          if (pair.far.log->filled() > pair.far.log->freed()) {
            pair.far.log->give_back(1);
            pair.post_receive(1, 0, 1024);
          }
          return work;
        },
        [&] {
          for (std::uint64_t i = 0; i < tries; ++i) {
            if (told(pair, 5'000 + i) != 0) {
              return true;
            }
          }
          return false;
        });
    ASSERT_TRUE(held);
    EXPECT_TRUE(
        world.survives(pair.far.log->offset_of(pair.far.log->filled() - 1), Pair::pattern(200, 7)));
    for (std::uint64_t i = 0; i < tries; ++i) {
      EXPECT_LE(told(pair, 5'000 + i), 1u);
    }
    pair.far.qp.reset();
  }
  Pair pair(world, {.far_access = every_access | flushes_writes,
                    .transport = Transport::uc,
                    .told_when_persistent = true});
  pair.fill_near(0, 3000, 9);
  EXPECT_TRUE(pair.try_until(
      [&](std::uint64_t id) {
        SendWork work = pair.write(id, 0, 256, 3000);
        work.compare = 1;
        return work;
      },
      [&] { return told(pair, 1) != 0; }));
  EXPECT_TRUE(world.survives(256, Pair::pattern(3000, 9)));
}

SENTENCE(D12, an_unreliable_message_without_a_place_is_lost) {
  Pair pair(world, {.transport = Transport::uc, .log = by_itself(some_places)});
  for (std::uint64_t i = 0; i < 8; ++i) {
    pair.post_receive(i, 1024 * i, 1024);
  }
  pair.fill_near(0, 200, 1);
  EXPECT_TRUE(pair.try_until([&](std::uint64_t id) { return pair.send(id, 0, 200); },
                             [&] { return pair.far.log->filled() == some_places.places; }));
  pair.fill_near(0, 200, 2);
  for (std::uint64_t i = 0; i < 5; ++i) {
    pair.post(pair.send(50'000 + i, 0, 200));
  }
  EXPECT_FALSE(pair.holds_soon([&] { return pair.far.log->filled() != some_places.places; }));
  for (std::uint64_t i = 0; i < some_places.places; ++i) {
    EXPECT_TRUE(pair.far_holds(pair.far.log->offset_of(i), Pair::pattern(200, 1))) << i;
  }
}

}  // namespace
}  // namespace remora::fabric::contract
