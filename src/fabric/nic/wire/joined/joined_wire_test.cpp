// A device with two wires as one: a peer by shared memory and a peer by RoCE use it at once.
#include "fabric/nic/wire/joined/joined_wire.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "fabric/nic/device/nic.h"
#include "fabric/nic/packet/packet.h"
#include "fabric/nic/wire/ring/ring_wire.h"
#include "fabric/nic/wire/roce/roce_net.h"
#include "runtime/poll_loop.h"

namespace remora::fabric::nic::joined {
namespace {

using ring::RingWire;
using roce::IpEndpoint;
using roce::RoceNet;

constexpr std::uint32_t room_bytes = 256 << 10;

struct JoinedOwner final : LinkOwner {
  void link_up(LinkId link, const HostPeer&) override { up.push_back(link); }
  void link_down(LinkId link) override { down.push_back(link); }
  std::vector<LinkId> up;
  std::vector<LinkId> down;
};

// A device and one queue pair.
struct JoinedParty {
  JoinedParty(Runtime& runtime, Wire& wire)
      : nic(runtime, wire, dma), domain(nic.create_domain()), memory(room_bytes) {
    queue = nic.create_completion_queue(64).value();
    region = domain
                 ->register_memory(
                     memory, local_read | local_write | remote_read | remote_write | remote_atomic)
                 .value();
  }
  std::unique_ptr<QueuePair> make_qp() {
    auto qp = domain->create_queue_pair({.send_queue = queue.get(), .receive_queue = queue.get()})
                  .value();
    EXPECT_TRUE(qp->initialise().ok());
    return qp;
  }

  PlainDma dma;
  Nic nic;
  std::unique_ptr<ProtectionDomain> domain;
  std::vector<std::byte> memory;
  std::unique_ptr<CompletionQueue> queue;
  std::unique_ptr<MemoryRegion> region;
};

class JoinedWireTest : public testing::Test {
 protected:
  void SetUp() override {
    const IpEndpoint at{roce::parse_address("127.0.0.1").value(), 0};
    net_ = RoceNet::listen(loop_, owner_, at, {.is_second = true}).value();
    ring_ = RingWire::create(loop_, &owner_, {.gid = net_->wire().gid()}).value();
    const std::string path = testing::TempDir() + "joined-" + std::to_string(::getpid());
    ASSERT_TRUE(ring_->listen(path).ok());
    joined_ = std::make_unique<JoinedWire>(*ring_, net_->wire());
    target_ = std::make_unique<JoinedParty>(loop_, *joined_);

    near_wire_ = RingWire::create(loop_, nullptr).value();
    ASSERT_TRUE(loop_.block_on(near_wire_->connect(path)).ok());
    near_ = std::make_unique<JoinedParty>(loop_, *near_wire_);
    far_net_ = loop_.block_on(RoceNet::connect(loop_, far_owner_, net_->wire().local())).value();
    const std::uint64_t end_ns = loop_.after(20'000'000'000);
    while (owner_.up.size() < 2 && loop_.now_ns() < end_ns) {
      loop_.turn();
    }
    far_ = std::make_unique<JoinedParty>(loop_, far_net_->wire());
  }

  struct Joint {
    std::unique_ptr<QueuePair> own;
    std::unique_ptr<QueuePair> at_target;
  };
  Joint join(JoinedParty& party) {
    Joint joint{party.make_qp(), target_->make_qp()};
    constexpr ConnectOptions options = {.remote_access =
                                            remote_read | remote_write | remote_atomic};
    EXPECT_TRUE(joint.own->connect(joint.at_target->address(), options).ok());
    EXPECT_TRUE(joint.at_target->connect(joint.own->address(), options).ok());
    return joint;
  }
  // Posts a request, and waits for its completion.
  WorkStatus run(JoinedParty& party, QueuePair& qp, Opcode opcode, std::uint32_t bytes) {
    const std::array<Sge, 1> pieces = {party.region->piece(0, bytes)};
    const SendWork work{.opcode = opcode, .pieces = pieces, .remote = target_->region->remote(0)};
    EXPECT_TRUE(qp.post_send(std::span(&work, 1)).ok());
    WorkCompletion completion;
    const std::uint64_t end_ns = loop_.after(20'000'000'000);
    while (party.queue->poll(std::span(&completion, 1)) == 0 && loop_.now_ns() < end_ns) {
      loop_.turn();
    }
    return completion.status;
  }

  PollLoop loop_;
  JoinedOwner owner_;
  LinkOwner far_owner_;
  std::unique_ptr<RoceNet> net_;
  std::unique_ptr<RingWire> ring_;
  std::unique_ptr<JoinedWire> joined_;
  std::unique_ptr<JoinedParty> target_;
  std::unique_ptr<RingWire> near_wire_;
  std::unique_ptr<JoinedParty> near_;
  std::unique_ptr<RoceNet> far_net_;
  std::unique_ptr<JoinedParty> far_;
};

TEST_F(JoinedWireTest, each_link_has_the_traits_of_its_wire) {
  ASSERT_EQ(owner_.up.size(), 2u);
  const LinkTraits near = joined_->traits(owner_.up[0]);
  const LinkTraits far = joined_->traits(owner_.up[1]);
  EXPECT_EQ(near.mtu_bytes, ring_->mtu_bytes());
  EXPECT_TRUE(near.lossless);
  EXPECT_EQ(far.mtu_bytes, net_->wire().mtu_bytes());
  EXPECT_FALSE(far.lossless);
  EXPECT_EQ(far.window_packets, net_->wire().window_packets());
  EXPECT_EQ(joined_->traits().links.mtu_bytes, net_->wire().mtu_bytes()) << "what fits either";
  EXPECT_FALSE(joined_->traits().links.lossless);
  EXPECT_EQ(joined_->link_to(near_wire_->gid()), owner_.up[0]);
  EXPECT_EQ(joined_->link_to(far_net_->wire().gid()), owner_.up[1]);
}

TEST_F(JoinedWireTest, peers_of_both_wires_write_and_read_one_memory) {
  const Joint near = join(*near_);
  const Joint far = join(*far_);
  for (const std::uint32_t bytes : {64u, 5000u, room_bytes}) {
    std::ranges::fill(near_->memory, std::byte{0x11});
    EXPECT_EQ(run(*near_, *near.own, Opcode::write, bytes), WorkStatus::success);
    EXPECT_EQ(run(*far_, *far.own, Opcode::read, bytes), WorkStatus::success);
    EXPECT_EQ(far_->memory[bytes - 1], std::byte{0x11});
    std::ranges::fill(far_->memory, std::byte{0x22});
    EXPECT_EQ(run(*far_, *far.own, Opcode::write, bytes), WorkStatus::success);
    EXPECT_EQ(run(*near_, *near.own, Opcode::read, bytes), WorkStatus::success);
    EXPECT_EQ(near_->memory[bytes - 1], std::byte{0x22});
  }
}

TEST_F(JoinedWireTest, tells_a_wire_what_concerns_its_links) {
  ASSERT_EQ(owner_.up.size(), 2u);
  const std::vector<std::byte> payload(4096);
  const auto calls_for = [&](bool takes_time) {
    const std::uint64_t before = net_->wire().counters().calls_sent;
    joined_->take_time(owner_.up[takes_time ? 1 : 0]);
    for (int i = 0; i < 15; ++i) {
      const Bytes room = joined_->reserve_around(owner_.up[1], bth_bytes, payload);
      EXPECT_EQ(room.size(), bth_bytes);
      std::ranges::fill(room, std::byte{0});
      joined_->commit();
    }
    joined_->flush();
    return net_->wire().counters().calls_sent - before;
  };
  EXPECT_EQ(calls_for(false), 2u);
  EXPECT_EQ(calls_for(true), 1u);
}

TEST_F(JoinedWireTest, a_peer_that_goes_leaves_the_other) {
  const Joint near = join(*near_);
  Joint far = join(*far_);
  EXPECT_EQ(run(*far_, *far.own, Opcode::write, 64), WorkStatus::success);
  far.own.reset();
  far_.reset();
  far_net_.reset();
  const std::uint64_t end_ns = loop_.after(20'000'000'000);
  while (owner_.down.empty() && loop_.now_ns() < end_ns) {
    loop_.turn();
  }
  EXPECT_EQ(owner_.down, std::vector<LinkId>{owner_.up[1]});
  EXPECT_EQ(far.at_target->state(), QpState::error);
  EXPECT_EQ(run(*near_, *near.own, Opcode::write, 64), WorkStatus::success);
}

TEST_F(JoinedWireTest, a_link_of_either_wire_can_be_cut_off) {
  joined_->cut_off(owner_.up[0]);
  joined_->cut_off(owner_.up[1]);
  const std::uint64_t end_ns = loop_.after(20'000'000'000);
  while (owner_.down.size() < 2 && loop_.now_ns() < end_ns) {
    loop_.turn();
  }
  EXPECT_EQ(owner_.down.size(), 2u);
  EXPECT_FALSE(joined_->link_to(near_wire_->gid()).has_value());
  EXPECT_FALSE(joined_->link_to(far_net_->wire().gid()).has_value());
}

}  // namespace
}  // namespace remora::fabric::nic::joined
