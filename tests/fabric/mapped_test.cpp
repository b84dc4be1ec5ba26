// The mapped wire beyond the contract: what is short-cut and what is not, and that nobody can tell
// by the result.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <vector>

#include "pmem/open_region.h"
#include "tests/fabric/mapped_world.h"
#include "tests/fabric/pair.h"
#include "tests/fabric/party.h"
#include "tests/fabric/temporary_folder.h"

namespace remora::fabric::contract {
namespace {

class Mapped : public testing::Test {
 protected:
  const std::unique_ptr<World> world_ = make_mapped_world(1, {});
  const std::unique_ptr<World> pages_ =
      make_mapped_world(1, Platform{.granularity = Granularity::page});
};

TEST_F(Mapped, memory_operations_send_no_packet) {
  Pair pair(*world_);
  const std::uint64_t sent = world_->near().counters().packets_sent;
  std::uint64_t id = 0;
  for (const std::size_t size : {1u, 64u, 1500u, 2048u, 100'000u}) {
    pair.fill_near(0, size, size);
    EXPECT_EQ(pair.status_of(pair.write(id++, 0, 3, size)), WorkStatus::success);
    EXPECT_TRUE(pair.far_holds(3, Pair::pattern(size, size)));
    EXPECT_EQ(pair.status_of(pair.read(id++, 100'000, 3, size)), WorkStatus::success);
    EXPECT_TRUE(std::equal(pair.near_at(0), pair.near_at(size), pair.near_at(100'000)));
    EXPECT_EQ(pair.status_of(pair.flush(id++, 3, size)), WorkStatus::success);
  }
  EXPECT_EQ(pair.status_of(pair.atomic_write(id++, 8, 5)), WorkStatus::success);
  EXPECT_EQ(pair.status_of(pair.fetch_add(id++, 0, 8, 5)), WorkStatus::success);
  EXPECT_EQ(pair.status_of(pair.compare_swap(id++, 0, 8, 10, 5)), WorkStatus::success);
  EXPECT_EQ(world_->near().counters().packets_sent, sent);
  EXPECT_EQ(short_cut(*world_), id);
  EXPECT_EQ(world_->near().counters().requests_by_wire, 0u);
}

TEST_F(Mapped, messages_go_by_the_rings_and_what_follows_them_waits) {
  Pair pair(*world_);
  pair.post_receive(1, 0, 64);
  pair.fill_near(0, 64, 1);
  pair.post(pair.write(1, 0, 0, 64));
  pair.post(pair.send(2, 0, 64));
  pair.post(pair.write(3, 0, 4096, 64));
  EXPECT_EQ(short_cut(*world_), 1u);
  EXPECT_EQ(pair.far_now(4096, 1)[0], std::byte{0}) << "it overtook the message";
  pair.wait_sends(3);
  pair.wait_receives(1);
  EXPECT_EQ(ids_of(pair.near.sends), (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(pair.status_of(pair.write(4, 0, 8192, 64)), WorkStatus::success);
  EXPECT_EQ(short_cut(*world_), 2u) << "all is acknowledged: the short way is free again";
}

TEST_F(Mapped, one_post_may_go_both_ways) {
  Pair pair(*world_);
  pair.post_receive(1, 0, 64);
  std::vector<SendWork> works;
  for (std::uint64_t i = 0; i < 70; ++i) {
    works.push_back(pair.write(i, i * 64, i * 64, 64));
    pair.fill_near(i * 64, 64, i);
  }
  works.push_back(pair.send(70, 0, 64));
  works.push_back(pair.read(71, 64 * 1024, 0, 64));
  EXPECT_TRUE(pair.near.qp->post_send(works).ok());
  EXPECT_EQ(short_cut(*world_), 70u);
  pair.wait_sends(works.size());
  EXPECT_TRUE(all_succeeded(pair.near.sends));
  for (std::uint64_t i = 0; i < works.size(); ++i) {
    EXPECT_EQ(pair.near.sends[i].id, i);
  }
}

TEST_F(Mapped, requests_of_several_pieces_are_one) {
  Pair pair(*world_);
  pair.fill_near(0, 100, 1);
  const std::vector<Sge> out = {pair.near.memory->piece(0, 13), pair.near.memory->piece(13, 50),
                                pair.near.memory->piece(63, 37)};
  const std::vector<Sge> in = {pair.near.memory->piece(1000, 61),
                               pair.near.memory->piece(1061, 39)};
  SendWork work = pair.write(1, 0, 5, 100);
  work.pieces = out;
  EXPECT_EQ(pair.status_of(work), WorkStatus::success);
  EXPECT_TRUE(pair.far_holds(5, Pair::pattern(100, 1)));
  work = pair.read(2, 0, 5, 100);
  work.pieces = in;
  const WorkCompletion completion = pair.finish(work);
  EXPECT_EQ(completion.status, WorkStatus::success);
  EXPECT_EQ(completion.size_bytes, 100u);
  EXPECT_TRUE(std::equal(pair.near_at(0), pair.near_at(100), pair.near_at(1000)));
  SendWork small = pair.write(3, 0, 300, 40);
  small.inline_data = true;
  EXPECT_EQ(pair.status_of(small), WorkStatus::success);
  EXPECT_TRUE(same(Bytes(pair.near_at(0), 40), pair.far_now(300, 40)));
  EXPECT_EQ(short_cut(*world_), 3u);
}

TEST_F(Mapped, what_cannot_be_posted_is_refused_as_on_any_wire) {
  Pair pair(*world_);
  std::vector<Sge> many(5, pair.near.memory->piece(0, 8));
  SendWork work = pair.write(1, 0, 0, 8);
  work.pieces = many;
  EXPECT_EQ(pair.near.qp->post_send(std::span(&work, 1)).code(), Code::invalid_argument);
  work = pair.fetch_add(1, 0, 0, 1);
  work.pieces = std::span(many).first(2);
  EXPECT_EQ(pair.near.qp->post_send(std::span(&work, 1)).code(), Code::invalid_argument);
  EXPECT_EQ(short_cut(*world_), 0u);
}

TEST_F(Mapped, a_queue_pair_for_no_pieces_moves_none_as_on_any_wire) {
  PairOptions options;
  options.max_pieces = 0;
  Pair pair(*world_, options);
  for (const std::uint32_t size : {8u, 64u, 4096u}) {
    SendWork work = pair.write(1, 0, 0, size);
    EXPECT_EQ(pair.near.qp->post_send(std::span(&work, 1)).code(), Code::invalid_argument);
    work = pair.read(1, 0, 0, size);
    EXPECT_EQ(pair.near.qp->post_send(std::span(&work, 1)).code(), Code::invalid_argument);
  }
  EXPECT_EQ(short_cut(*world_), 0u);
}

TEST_F(Mapped, a_flush_covers_what_went_by_the_rings) {
  Pair pair(*world_);
  for (std::uint64_t i = 0; i < 4; ++i) {
    pair.post_receive(i, 0, 64);
    pair.fill_near(0, 900, i);
    SendWork work = pair.write(2 * i, 0, 10'000 * i, 900);
    work.opcode = Opcode::write_imm;
    EXPECT_EQ(pair.status_of(work), WorkStatus::success);
    EXPECT_FALSE(world_->survives(10'000 * i, Pair::pattern(900, i)));
    const std::uint64_t before = short_cut(*world_);
    EXPECT_EQ(pair.status_of(pair.flush(2 * i + 1, 10'000 * i, 900)), WorkStatus::success);
    EXPECT_EQ(short_cut(*world_), before + 1);
    EXPECT_TRUE(world_->survives(10'000 * i, Pair::pattern(900, i))) << i;
  }
}

TEST_F(Mapped, a_flush_covers_atomics) {
  Pair pair(*world_);
  EXPECT_EQ(pair.status_of(pair.fetch_add(1, 0, 64, 99)), WorkStatus::success);
  EXPECT_FALSE(world_->survives(64, object_bytes(std::uint64_t{99})));
  EXPECT_EQ(pair.status_of(pair.flush(2, 64, 8)), WorkStatus::success);
  EXPECT_TRUE(world_->survives(64, object_bytes(std::uint64_t{99})));
}

TEST_F(Mapped, on_page_media_the_target_commits) {
  Pair pair(*pages_);
  pair.fill_near(0, 5000, 1);
  // Stored through the mapping, where it begins within a word, and written by the file.
  std::uint64_t turn = 0;
  for (const std::uint64_t at : {std::uint64_t{100}, std::uint64_t{8192}}) {
    ++turn;
    EXPECT_EQ(pair.status_of(pair.write(1, 0, at, 5000)), WorkStatus::success);
    EXPECT_EQ(short_cut(*pages_), turn);
    EXPECT_FALSE(pages_->survives(at, Pair::pattern(5000, 1)));
    EXPECT_EQ(pair.status_of(pair.flush(2, at, 5000)), WorkStatus::success);
    EXPECT_EQ(pages_->near().counters().requests_by_wire, turn);
    EXPECT_TRUE(pages_->survives(at, Pair::pattern(5000, 1)));
  }
}

TEST_F(Mapped, memory_without_a_file_goes_by_the_rings) {
  Pair pair(*world_);
  std::vector<std::byte> memory(4096);
  const auto plain =
      pair.far.domain->register_memory(memory, local_write | remote_write | remote_read);
  ASSERT_TRUE(plain.ok());
  for (int i = 0; i < 200; ++i) {
    SendWork work = pair.write(1, 0, 0, 64);
    work.remote = plain.value()->remote(0);
    EXPECT_EQ(pair.status_of(work), WorkStatus::success);
  }
  EXPECT_EQ(short_cut(*world_), 0u);
  EXPECT_EQ(world_->near().counters().requests_by_wire, 200u);
}

TEST_F(Mapped, rights_end_with_the_queue_pair_and_with_the_region) {
  Pair pair(*world_);
  Pair other(*world_);
  EXPECT_EQ(pair.status_of(pair.write(1, 0, 0, 64)), WorkStatus::success);
  pair.far.qp->fail();
  EXPECT_TRUE(pair.far.qp->quiet());
  EXPECT_NE(pair.status_of(pair.write(2, 0, 0, 64)), WorkStatus::success);
  EXPECT_EQ(short_cut(*world_), 1u);
  EXPECT_EQ(other.status_of(other.write(3, 0, 0, 64)), WorkStatus::success);
  EXPECT_EQ(short_cut(*world_), 2u);
}

// A WRITE with its FLUSH in one post has ways of its own: past the caches, by whole lines.
TEST_F(Mapped, a_write_posted_with_its_flush_is_persistent_when_that_completes) {
  for (const AccessFlags order : {AccessFlags{0}, AccessFlags{relaxed_order}}) {
    PairOptions options;
    options.far_access = every_access | order;
    Pair pair(*world_, options);
    std::uint64_t id = 0;
    for (const std::size_t size : {1u, 8u, 63u, 64u, 65u, 128u, 1000u, 4096u, 5000u}) {
      for (const std::size_t offset : {4096u, 4096u + 8u, 8192u - 64u, 8192u + 1u}) {
        // What lies there is in a cache, and not flushed.
        pair.fill_near(0, 2 * size + 128, 500 + id);
        EXPECT_EQ(pair.status_of(pair.write(id++, 0, offset - 64, 2 * size + 128)),
                  WorkStatus::success);
        pair.fill_near(0, size, id);
        const std::vector<std::byte> bytes = Pair::pattern(size, id);
        SendWork write = pair.write(id++, 0, offset, size);
        write.signalled = false;
        const SendWork works[] = {write, pair.flush(id++, offset, size)};
        const std::size_t before = pair.near.sends.size();
        ASSERT_TRUE(pair.near.qp->post_send(works).ok());
        pair.wait_sends(before + 1);
        EXPECT_TRUE(pair.far_holds(offset, bytes)) << size << " at " << offset;
        EXPECT_TRUE(world_->survives(offset, bytes)) << size << " at " << offset;
      }
    }
    EXPECT_TRUE(all_succeeded(pair.near.sends));
    EXPECT_EQ(world_->near().counters().requests_by_wire, 0u);
  }
}

// --- Two parties in one process ---

// What a lane asks of the memory that it has mapped, counted.
class CountedRegion final : public Region {
 public:
  CountedRegion(std::unique_ptr<Region> inner, int& drains)
      : inner_(std::move(inner)), drains_(drains) {}
  Bytes bytes() override { return inner_->bytes(); }
  const Strategy& strategy() const override { return inner_->strategy(); }
  void flush(ConstBytes range, Site site) override { inner_->flush(range, site); }
  [[nodiscard]] Ticket drain(Site site) override {
    ++drains_;
    return inner_->drain(site);
  }
  void copy(std::byte* to, ConstBytes from, Site site) override { inner_->copy(to, from, site); }
  bool copies_lines() const override { return true; }
  bool persistent(Ticket ticket) const override { return inner_->persistent(ticket); }
  [[nodiscard]] Status wait(Ticket ticket) override { return inner_->wait(ticket); }
  void request(Ticket ticket) override { inner_->request(ticket); }

 private:
  const std::unique_ptr<Region> inner_;
  int& drains_;
};

class TwoParties : public testing::Test {
 protected:
  bool link(Party& near, Party& far, const std::string& name = "socket") {
    const std::string path = folder_.path() + "/" + name;
    if (!far.wire->wire().listen(path).ok()) {
      return false;
    }
    bool up = false;
    near.loop.spawn([](Party& party, std::string to, bool& done) -> Task<void> {
      done = (co_await party.wire->wire().connect(to)).ok();
    }(near, path, up));
    return turn_both(near, far, [&] { return up && far.wire->wire().links() == 1; }) &&
           near.connect(far.introduction()) && far.connect(near.introduction());
  }
  static bool turn_both(Party& near, Party& far, const std::function<bool()>& holds) {
    return near.run_until([&] {
      far.loop.turn();
      return holds();
    });
  }

  const TemporaryFolder folder_;
};

// Bytes on their way past the caches must not be overtaken by the FLUSH that was to wait for them.
TEST_F(TwoParties, a_flush_that_goes_by_the_wire_finds_the_write_before_it_in_place) {
  for (const AccessFlags order : {AccessFlags{0}, AccessFlags{relaxed_order}}) {
    int drains = 0;
    Party near({.initiator = {.medium = [&](Bytes mapped) -> Result<std::unique_ptr<Region>> {
                  Result<std::unique_ptr<Region>> inner = adopt_mapping(mapped);
                  return std::unique_ptr<Region>(
                      std::make_unique<CountedRegion>(std::move(inner).value(), drains));
                }}});
    // The short way may WRITE and not FLUSH.
    Party far({}, (party_access & ~flush_persistence) | order);
    ASSERT_TRUE(link(near, far, order == 0 ? "ordered" : "relaxed"));
    near.wire->ask(near.qp->number(), near.peer.memory.key);
    ASSERT_TRUE(turn_both(
        near, far, [&] { return near.wire->is_mapped(near.qp->number(), near.peer.memory.key); }));
    const SendWork write = near.request(Opcode::write, 0, 64);
    const Sge piece = write.pieces[0];
    SendWork works[] = {write, near.request(Opcode::flush, 0, 64)};
    works[0].pieces = std::span(&piece, 1);
    works[1].pieces = {};
    ASSERT_TRUE(near.qp->post_send(works).ok());
    EXPECT_EQ(drains, 1);
    EXPECT_EQ(near.short_cut(), 1u);
  }
}

TEST_F(TwoParties, whoever_is_not_trusted_gets_nothing_to_map) {
  Party near;
  Party far({.target = {.trusted_uid = geteuid() + 1}});
  ASSERT_TRUE(link(near, far));
  near.wire->ask(near.qp->number(), far.introduction().memory.key);
  WorkCompletion completion;
  for (int i = 0; i < 100; ++i) {
    const SendWork work = near.request(Opcode::write, 0, 64);
    ASSERT_TRUE(near.qp->post_send(std::span(&work, 1)).ok());
    ASSERT_TRUE(
        turn_both(near, far, [&] { return near.queue->poll(std::span(&completion, 1)) == 1; }));
    EXPECT_EQ(completion.status, WorkStatus::success);
  }
  EXPECT_EQ(near.short_cut(), 0u);
  EXPECT_EQ(far.wire->grants(), 0u);
}

TEST_F(TwoParties, a_key_is_asked_about_when_it_is_first_used) {
  Party near;
  Party far;
  ASSERT_TRUE(link(near, far));
  WorkCompletion completion;
  for (int i = 0; i < 1000 && near.short_cut() == 0; ++i) {
    const SendWork work = near.request(Opcode::write, 0, 64);
    ASSERT_TRUE(near.qp->post_send(std::span(&work, 1)).ok());
    ASSERT_TRUE(
        turn_both(near, far, [&] { return near.queue->poll(std::span(&completion, 1)) == 1; }));
    EXPECT_EQ(completion.status, WorkStatus::success);
  }
  EXPECT_GT(near.short_cut(), 0u);
  EXPECT_EQ(far.wire->grants(), 1u);
}

}  // namespace
}  // namespace remora::fabric::contract
