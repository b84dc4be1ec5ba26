// U1 to U11: unreliable connections and datagrams. Where a wire loses nothing everything arrives,
// and the tests do not ask for more than they may: what matters is tried again until it does.
#include <algorithm>
#include <array>
#include <cstring>

#include "tests/fabric/contract.h"

namespace remora::fabric::contract {
namespace {

constexpr std::array unreliable = {Transport::uc, Transport::ud};

PairOptions of(Transport transport) {
  PairOptions options;
  options.transport = transport;
  return options;
}

// What precedes a message in its receive.
std::size_t header_of(Transport transport) {
  return transport == Transport::ud ? datagram_header_bytes : 0;
}

SendWork with_immediate(SendWork work, std::uint32_t immediate) {
  work.opcode = work.opcode == Opcode::write ? Opcode::write_imm : Opcode::send_imm;
  work.immediate = immediate;
  return work;
}

SENTENCE(U1, an_unreliable_connection_carries_send_and_write) {
  Pair pair(world, of(Transport::uc));
  EXPECT_TRUE(pair.is_refused(pair.read(1, 0, 0, 64)));
  EXPECT_TRUE(pair.is_refused(pair.fetch_add(1, 0, 0, 1)));
  EXPECT_TRUE(pair.is_refused(pair.compare_swap(1, 0, 0, 0, 1)));
  EXPECT_TRUE(pair.is_refused(pair.atomic_write(1, 0, 1)));
  EXPECT_TRUE(pair.is_refused(pair.flush(1, 0, 64)));
  pair.fill_near(0, 10'000, 1);
  const std::vector<std::byte> expected = Pair::pattern(10'000, 1);
  EXPECT_TRUE(pair.try_until([&](std::uint64_t id) { return pair.write(id, 0, 8, 10'000); },
                             [&] { return pair.far_holds(8, expected); }));
  pair.post_receive(1, 0, 64);
  EXPECT_TRUE(pair.try_until(
      [&](std::uint64_t id) { return with_immediate(pair.write(id, 0, 20'000, 64), 77); },
      [&] { return pair.far.receives.size() == 1; }));
  EXPECT_EQ(pair.far.receives[0].opcode, Opcode::receive_imm);
  EXPECT_EQ(pair.far.receives[0].immediate, 77u);
  EXPECT_EQ(pair.far.receives[0].size_bytes, 64u);
  EXPECT_TRUE(pair.far_holds(20'000, Pair::pattern(64, 1)));
}

SENTENCE(U1, an_end_for_datagrams_carries_sends_alone) {
  Pair pair(world, of(Transport::ud));
  EXPECT_TRUE(pair.is_refused(pair.write(1, 0, 0, 64)));
  EXPECT_TRUE(pair.is_refused(pair.read(1, 0, 0, 64)));
  EXPECT_TRUE(pair.is_refused(pair.fetch_add(1, 0, 0, 1)));
  EXPECT_TRUE(pair.is_refused(pair.flush(1, 0, 64)));
  EXPECT_TRUE(pair.is_refused(pair.send(1, 0, 64))) << "it names no address handle";
}

SENTENCE(U1, both_carry_messages_with_and_without_immediate_data) {
  for (const Transport transport : unreliable) {
    Pair pair(world, of(transport));
    pair.fill_near(0, 200, 3);
    pair.post_receive(1, 0, 300);
    EXPECT_TRUE(pair.try_until([&](std::uint64_t id) { return pair.message(id, 0, 200); },
                               [&] { return pair.far.receives.size() == 1; }));
    EXPECT_FALSE(pair.far.receives[0].has_immediate);
    EXPECT_EQ(pair.far.receives[0].size_bytes, header_of(transport) + 200);
    EXPECT_TRUE(pair.buffer_holds(header_of(transport), Pair::pattern(200, 3)));
    // More than one, for a datagram that comes again.
    for (std::uint64_t i = 2; i < 10; ++i) {
      pair.post_receive(i, i * 1000, 300);
    }
    EXPECT_TRUE(pair.try_until(
        [&](std::uint64_t id) { return with_immediate(pair.message(id, 0, 13), 0xabcd); },
        [&] { return pair.far.receives.back().has_immediate; }));
    const WorkCompletion& last = pair.far.receives.back();
    EXPECT_EQ(last.immediate, 0xabcdu);
    EXPECT_EQ(last.size_bytes, header_of(transport) + 13);
    EXPECT_EQ(last.id, pair.far.receives.size());
    EXPECT_TRUE(all_succeeded(pair.near.sends));
  }
}

SENTENCE(U2, a_completion_gives_the_buffers_back_and_promises_nothing) {
  for (const Transport transport : unreliable) {
    Pair pair(world, of(transport));
    constexpr std::uint64_t count = 8;
    for (std::uint64_t i = 0; i < count; ++i) {
      pair.post_receive(i, i * 1024, 1024);
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      pair.fill_near(0, 200, 5);
      EXPECT_EQ(pair.status_of(pair.message(i, 0, 200)), WorkStatus::success);
      std::memset(pair.near_at(0), 0x99, 200);
    }
    (void)pair.holds_soon([&] { return pair.far.receives.size() == count; });
    for (const WorkCompletion& received : pair.far.receives) {
      EXPECT_TRUE(
          pair.buffer_holds(received.id * 1024 + header_of(transport), Pair::pattern(200, 5)));
    }
    // Nobody is there to take it, and that is nobody's failure.
    Pair silent(world, of(transport));
    EXPECT_EQ(silent.status_of(silent.message(1, 0, 200)), WorkStatus::success);
    EXPECT_EQ(silent.near.qp->state(), QpState::ready_to_send);
  }
}

// Each message has a size of its own, by which it is told.
constexpr std::size_t size_of_message(std::uint64_t number) {
  return 6'000 + 8 * number;
}

SENTENCE(U3, a_message_arrives_whole_or_consumes_no_receive) {
  Pair pair(world, of(Transport::uc));
  constexpr std::uint64_t count = 24;
  constexpr std::size_t slot = 8192;
  for (std::uint64_t i = 0; i < count; ++i) {
    pair.post_receive(i, i * slot, slot);
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    pair.fill_near(0, size_of_message(i), i);
    EXPECT_EQ(pair.status_of(pair.send(i, 0, size_of_message(i))), WorkStatus::success);
  }
  (void)pair.holds_soon([&] { return pair.far.receives.size() == count; });
  for (std::size_t i = 0; i < pair.far.receives.size(); ++i) {
    const WorkCompletion& received = pair.far.receives[i];
    EXPECT_EQ(received.id, i) << "a receive was consumed by nothing";
    const std::uint64_t number = (received.size_bytes - size_of_message(0)) / 8;
    ASSERT_LT(number, count);
    EXPECT_TRUE(pair.buffer_holds(i * slot, Pair::pattern(size_of_message(number), number)));
  }
}

SENTENCE(U3, a_write_that_is_lost_stays_within_its_target_range) {
  Pair pair(world, of(Transport::uc));
  constexpr std::size_t begin = 20'001;
  constexpr std::size_t size = 30'000;
  pair.fill(pair.far.memory->bytes(), std::byte{0x22});
  std::memset(pair.near_at(0), 0x33, size);
  pair.post(pair.write(1, 0, begin, size));
  // In the middle, where the wire lets anybody see one.
  (void)pair.holds_soon([&] { return pair.far_now(begin, 1)[0] == std::byte{0x33}; });
  world.cut_wire();
  pair.wait_sends(1);
  EXPECT_TRUE(all_succeeded(pair.near.sends));
  const ConstBytes after = pair.far_now();
  for (std::size_t i = 0; i < after.size(); ++i) {
    const bool inside = i >= begin && i < begin + size;
    ASSERT_TRUE(after[i] == std::byte{0x22} || (inside && after[i] == std::byte{0x33})) << i;
  }
}

SENTENCE(U4, messages_that_arrive_do_so_once_and_in_order) {
  Pair pair(world, of(Transport::uc));
  constexpr std::uint64_t count = 60;
  for (std::uint64_t i = 0; i < count + 8; ++i) {
    pair.post_receive(i, i * 64, 64);
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    pair.post(with_immediate(pair.send(i, 0, 32), static_cast<std::uint32_t>(i)));
  }
  pair.wait_sends(count);
  (void)pair.holds_soon([&] { return pair.far.receives.size() == count; });
  for (std::size_t i = 0; i < pair.far.receives.size(); ++i) {
    EXPECT_EQ(pair.far.receives[i].id, i);
    EXPECT_LT(pair.far.receives[i].immediate, count);
    if (i > 0) {
      EXPECT_GT(pair.far.receives[i].immediate, pair.far.receives[i - 1].immediate);
    }
  }
  // What was written last is what is there, unless it was lost.
  std::uint64_t last = 0;
  EXPECT_TRUE(pair.try_until(
      [&](std::uint64_t id) {
        store(pair.near_at(0), last = id);
        return pair.write(id, 0, 0, word_bytes);
      },
      [&] { return pair.far_word(0) == last; }));
  EXPECT_FALSE(pair.holds_soon([&] { return pair.far_word(0) != last; }));
}

SENTENCE(U5, a_datagram_arrives_as_it_was_or_not) {
  Pair pair(world, of(Transport::ud));
  constexpr std::uint64_t count = 40;
  constexpr std::size_t slot = 1024;
  for (std::uint64_t i = 0; i < 2 * count; ++i) {
    pair.post_receive(i, i * slot, slot);
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    pair.fill_near(0, 200, i);
    EXPECT_EQ(
        pair.status_of(with_immediate(pair.datagram(i, 0, 200), static_cast<std::uint32_t>(i))),
        WorkStatus::success);
  }
  (void)pair.holds_soon([&] { return pair.far.receives.size() == 2 * count; });
  EXPECT_FALSE(pair.far.receives.empty());
  for (std::size_t i = 0; i < pair.far.receives.size(); ++i) {
    const WorkCompletion& received = pair.far.receives[i];
    EXPECT_EQ(received.id, i);
    EXPECT_EQ(received.size_bytes, datagram_header_bytes + 200);
    ASSERT_LT(received.immediate, count);
    EXPECT_TRUE(pair.buffer_holds(i * slot + datagram_header_bytes,
                                  Pair::pattern(200, received.immediate)));
  }
}

SENTENCE(U6, a_message_without_a_receive_is_lost_and_the_next_is_not) {
  Pair pair(world, of(Transport::uc));
  pair.post(with_immediate(pair.send(1, 0, 32), 1));
  // What is written after it has come, so it has been.
  std::uint64_t last = 0;
  ASSERT_TRUE(pair.try_until(
      [&](std::uint64_t id) {
        store(pair.near_at(0), last = id);
        return pair.write(id, 0, 0, word_bytes);
      },
      [&] { return pair.far_word(0) == last; }));
  EXPECT_TRUE(pair.far.receives.empty());
  pair.post_receive(7, 0, 64);
  ASSERT_TRUE(
      pair.try_until([&](std::uint64_t id) { return with_immediate(pair.send(id, 0, 32), 2); },
                     [&] { return !pair.far.receives.empty(); }));
  EXPECT_EQ(pair.far.receives[0].id, 7u);
  EXPECT_EQ(pair.far.receives[0].immediate, 2u);
  EXPECT_TRUE(all_succeeded(pair.near.sends));
}

SENTENCE(U6, a_message_longer_than_its_receive_is_lost_and_the_next_is_not) {
  for (const Transport transport : unreliable) {
    Pair pair(world, of(transport));
    pair.fill(pair.far.buffers->bytes().first(1000), std::byte{0x11});
    pair.post_receive(7, 0, header_of(transport) + 100);
    pair.post(with_immediate(pair.message(1, 0, 101), 1));
    pair.post(with_immediate(pair.message(2, 0, 200), 1));
    if (world.ends_short_receives()) {
      ASSERT_TRUE(pair.try_until(
          [&](std::uint64_t id) { return with_immediate(pair.message(id, 0, 100), 2); },
          [&] { return !pair.far.receives.empty(); }));
      EXPECT_EQ(pair.buffer_now(header_of(transport) + 100, 1)[0], std::byte{0x11}) << "beyond it";
      EXPECT_EQ(pair.near.qp->state(), QpState::ready_to_send);
      continue;
    }
    ASSERT_TRUE(pair.try_until(
        [&](std::uint64_t id) { return with_immediate(pair.message(id, 0, 100), 2); },
        [&] { return !pair.far.receives.empty(); }));
    EXPECT_EQ(pair.far.receives[0].id, 7u);
    EXPECT_EQ(pair.far.receives[0].status, WorkStatus::success);
    EXPECT_EQ(pair.far.receives[0].immediate, 2u);
    EXPECT_EQ(pair.buffer_now(header_of(transport) + 100, 1)[0], std::byte{0x11}) << "beyond it";
    EXPECT_EQ(pair.near.qp->state(), QpState::ready_to_send);
    EXPECT_EQ(pair.far.qp->state(), QpState::ready_to_send);
  }
}

SENTENCE(U7, a_datagram_is_one_packet) {
  Pair pair(world, of(Transport::ud));
  const std::uint32_t most = world.near().attributes().max_datagram_bytes;
  ASSERT_GT(most, 0u);
  ASSERT_LE(most, datagram_bytes_max);
  EXPECT_TRUE(pair.is_refused(pair.datagram(1, 0, most + 1)));
  EXPECT_EQ(pair.near.qp->state(), QpState::ready_to_send);
  pair.fill_near(0, most, 8);
  pair.post_receive(1, 0, 8192);
  ASSERT_TRUE(pair.try_until([&](std::uint64_t id) { return pair.datagram(id, 0, most); },
                             [&] { return !pair.far.receives.empty(); }));
  EXPECT_EQ(pair.far.receives[0].size_bytes, datagram_header_bytes + most);
  EXPECT_TRUE(pair.buffer_holds(datagram_header_bytes, Pair::pattern(most, 8)));
}

SENTENCE(U8, a_datagram_with_another_queue_key_is_not_taken) {
  Pair pair(world, of(Transport::ud));
  for (std::uint64_t i = 0; i < 4; ++i) {
    pair.post_receive(i, i * 1024, 1024);
  }
  SendWork stray = with_immediate(pair.datagram(1, 0, 64), 1);
  stray.remote.key ^= 1;
  pair.post(stray);
  pair.post(stray);
  pair.wait_sends(2);
  ASSERT_TRUE(
      pair.try_until([&](std::uint64_t id) { return with_immediate(pair.datagram(id, 0, 64), 2); },
                     [&] { return !pair.far.receives.empty(); }));
  (void)pair.holds_soon([] { return false; });
  for (const WorkCompletion& received : pair.far.receives) {
    EXPECT_EQ(received.immediate, 2u);
  }
  EXPECT_TRUE(all_succeeded(pair.near.sends));
}

SENTENCE(U9, the_header_of_a_datagram_leads_back_to_its_sender) {
  Pair pair(world, of(Transport::ud));
  pair.post_receive(1, 0, 1024);
  ASSERT_TRUE(pair.try_until([&](std::uint64_t id) { return pair.datagram(id, 0, 64); },
                             [&] { return !pair.far.receives.empty(); }));
  const ConstBytes bytes = pair.buffer_now(0, datagram_header_bytes);
  DatagramHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  EXPECT_EQ(header.from_number, pair.near.qp->number());
  EXPECT_EQ(header.from, world.near().attributes().gid);
  const auto back = pair.far.domain->create_address_handle(header.from);
  ASSERT_TRUE(back.ok()) << back.status().message();
  const Sge piece = pair.near.buffers->piece(0, 1024);
  const ReceiveWork receive{.id = 9, .pieces = std::span(&piece, 1)};
  ASSERT_TRUE(pair.near.qp->post_receive(std::span(&receive, 1)).ok());
  const Sge answer = pair.far.buffers->piece(2048, 32);
  for (int tries = 0; tries < 10'000 && pair.near.receives.empty(); ++tries) {
    Pair::post(*pair.far.qp, {.opcode = Opcode::send,
                              .signalled = false,
                              .pieces = std::span(&answer, 1),
                              .remote = (*back)->to(header.from_number, pair_key)});
    (void)pair.holds_soon([&] { return !pair.near.receives.empty(); });
  }
  ASSERT_EQ(pair.near.receives.size(), 1u);
  EXPECT_EQ(pair.near.receives[0].id, 9u);
  EXPECT_EQ(pair.near.receives[0].size_bytes, datagram_header_bytes + 32);
}

SENTENCE(U10, a_write_without_the_right_changes_nothing_and_ends_nothing) {
  PairOptions options = of(Transport::uc);
  Pair pair(world, options);
  pair.fill(pair.far.memory->bytes(), std::byte{0x44});
  std::memset(pair.near_at(0), 0x55, 20'000);
  SendWork wrong_key = pair.write(1, 0, 0, 20'000);
  wrong_key.remote.key ^= 0x1234;
  pair.post(wrong_key);
  const std::size_t size = pair.far.memory->bytes().size();
  pair.post(pair.write(2, 0, size - 10'000, 20'000));
  SendWork no_right = pair.write(3, 0, 0, 20'000);
  no_right.remote = pair.far.buffers->remote(0);
  pair.post(no_right);
  pair.wait_sends(3);
  std::uint64_t last = 0;
  ASSERT_TRUE(pair.try_until(
      [&](std::uint64_t id) {
        store(pair.near_at(0), last = id);
        return pair.write(id, 0, 512, word_bytes);
      },
      [&] { return pair.far_word(512) == last; }));
  const ConstBytes after = pair.far_now();
  for (std::size_t i = 0; i < after.size(); ++i) {
    ASSERT_TRUE(after[i] == std::byte{0x44} || (i >= 512 && i < 520)) << i;
  }
  EXPECT_EQ(pair.buffer_now(0, 1)[0], std::byte{0});
  EXPECT_TRUE(all_succeeded(pair.near.sends));
  EXPECT_EQ(pair.near.qp->state(), QpState::ready_to_send);
  EXPECT_EQ(pair.far.qp->state(), QpState::ready_to_send);
}

SENTENCE(U10, the_rights_of_the_queue_pair_hold_too) {
  PairOptions options = of(Transport::uc);
  options.far = world.connect_options();
  options.far->remote_access = remote_read;
  Pair pair(world, options);
  std::memset(pair.near_at(0), 0x55, 64);
  EXPECT_EQ(pair.status_of(pair.write(1, 0, 0, 64)), WorkStatus::success);
  pair.post_receive(1, 0, 64);
  ASSERT_TRUE(pair.try_until([&](std::uint64_t id) { return pair.send(id, 0, 8); },
                             [&] { return !pair.far.receives.empty(); }));
  EXPECT_EQ(pair.far_now(0, 1)[0], std::byte{0});
}

void check_goes_on(World& world, void (World::*end)(), Transport transport) {
  Pair pair(world, of(transport));
  EXPECT_EQ(pair.status_of(pair.message(1, 0, 64)), WorkStatus::success);
  (world.*end)();
  for (std::uint64_t i = 2; i < 40; ++i) {
    pair.post(pair.message(i, 0, 200));
  }
  pair.wait_sends(39);
  EXPECT_TRUE(all_succeeded(pair.near.sends));
  EXPECT_EQ(ids_of(pair.near.sends).back(), 39u);
  EXPECT_EQ(pair.near.qp->state(), QpState::ready_to_send);
}

SENTENCE(U11, a_peer_that_is_gone_is_not_noticed_by_a_connection) {
  check_goes_on(world, &World::kill_far, Transport::uc);
}

SENTENCE(U11, a_peer_that_is_gone_is_not_noticed_by_datagrams) {
  check_goes_on(world, &World::kill_far, Transport::ud);
}

SENTENCE(U11, a_wire_that_is_cut_is_not_noticed) {
  check_goes_on(world, &World::cut_wire, Transport::uc);
}

}  // namespace
}  // namespace remora::fabric::contract
