// Peers that do not keep to the design: whatever they write, send or claim, others are served as
// before and the server lives on.
#include <algorithm>
#include <array>

#include "base/random.h"
#include "rpc/datagram_end.h"
#include "rpc/slots.h"
#include "tests/rpc/rig.h"

namespace remora::rpc::contract {
namespace {

using fabric::Opcode;
using fabric::Transport;

// A connection without a client behind it.
class Hostile {
 public:
  Hostile(Rig& rig, Random& random) : rig_(rig), random_(random) {
    fabric::Device& device = rig.world().near();
    queue_ = device.create_completion_queue(256).value();
    domain_ = device.create_domain();
    memory_ = domain_->register_memory(bytes_, fabric::local_write | fabric::remote_write).value();
    transport_ = rig.design().transports.front();
    Introduction ours{
        .slots = {random.next(), static_cast<fabric::RemoteKey>(random.next())},
        .window = rig.options().window,
        .slot_bytes = static_cast<std::uint32_t>(slot_bytes_for(rig.options().body_bytes))};
    if (random.below(2) == 0) {
      ours.slots = memory_->remote(0);
    }
    if (transport_ != Transport::rc) {
      datagrams_ = DatagramEnd::create(device, {.body_bytes = 512}).value();
      ours.datagrams = datagrams_->address();
      ours.queue_key = datagrams_->key();
    }
    if (transport_ != Transport::ud) {
      pair_ = domain_
                  ->create_queue_pair({.send_queue = queue_.get(),
                                       .receive_queue = queue_.get(),
                                       .transport = transport_})
                  .value();
      EXPECT_TRUE(pair_->initialise().ok());
      ours.queue_pair = pair_->address();
    }
    const Result<Introduction> server = rig.server().accept(ours);
    EXPECT_TRUE(server.ok()) << server.status().message();
    if (server.ok()) {
      server_ = *server;
      is_connected_ = pair_ == nullptr ||
                      pair_->connect(server->queue_pair, rig.world().connect_options()).ok();
    }
  }

  // Something that the design does not know, or knows in another form.
  void act() {
    for (std::byte& byte : bytes_) {
      byte = static_cast<std::byte>(random_.next());
    }
    if (!is_connected_) {
      return;
    }
    if (transport_ == Transport::ud) {
      send_datagram();
      return;
    }
    const std::uint64_t size = 8 * (2 + random_.below(15));
    const std::uint64_t area = std::uint64_t{rig_.options().window} * server_.slot_bytes;
    // Mostly at the end of a slot, where a tail lies, which is almost a good one.
    std::uint64_t at = area == 0 ? 0 : random_.below(area / 8) * 8;
    if (area != 0 && random_.below(4) != 0) {
      at = (random_.below(rig_.options().window) + 1) * server_.slot_bytes - size;
      almost_a_tail(size);
    }
    const fabric::Sge piece = memory_->piece(0, size);
    constexpr std::array opcodes = {Opcode::write, Opcode::write, Opcode::send, Opcode::write_imm};
    const fabric::SendWork work{.opcode = opcodes[random_.below(opcodes.size())],
                                .pieces = std::span(&piece, 1),
                                .remote = {server_.slots.address + at, server_.slots.key},
                                .immediate = static_cast<std::uint32_t>(random_.below(4) * 0x1001)};
    (void)pair_->post_send(std::span(&work, 1));
  }

 private:
  void almost_a_tail(std::uint64_t size) {
    std::array<std::uint32_t, 4> words = {
        static_cast<std::uint32_t>(random_.below(3)), static_cast<std::uint32_t>(random_.below(3)),
        static_cast<std::uint32_t>(random_.below(2) == 0 ? random_.below(64)
                                                         : random_.next() & 0xff'ffff),
        static_cast<std::uint32_t>(random_.below(5) << slot_bits)};
    std::memcpy(bytes_.data() + size - sizeof words, words.data(), sizeof words);
  }
  void send_datagram() {
    const std::optional<std::uint32_t> buffer = datagrams_->take();
    if (!buffer) {
      return;
    }
    const std::uint64_t token = random_.below(2) == 0 ? server_.token : random_.next();
    const fabric::QueueKey key = random_.below(8) == 0 ? server_.queue_key + 1 : server_.queue_key;
    const Result<DatagramEnd::Peer> peer = datagrams_->find(server_.datagrams, key, token);
    EXPECT_TRUE(peer.ok());
    MessageHead head{.call = static_cast<std::uint32_t>(random_.below(3)),
                     .kind = static_cast<Kind>(random_.below(5)),
                     .code = static_cast<std::uint16_t>(random_.below(20)),
                     .size_bytes = static_cast<std::uint32_t>(random_.below(64)),
                     .reserved = static_cast<std::uint32_t>(random_.below(2))};
    (void)datagrams_->send(*buffer, *peer, head);
  }

  Rig& rig_;
  Random& random_;
  Transport transport_ = Transport::rc;
  std::array<std::byte, 512> bytes_ = {};
  std::unique_ptr<fabric::CompletionQueue> queue_;
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  std::unique_ptr<fabric::MemoryRegion> memory_;
  std::unique_ptr<DatagramEnd> datagrams_;
  std::unique_ptr<fabric::QueuePair> pair_;
  Introduction server_;
  bool is_connected_ = false;
};

class HostilePeers : public testing::TestWithParam<const Design*> {};

INSTANTIATE_TEST_SUITE_P(All, HostilePeers, testing::ValuesIn(designs()), [](const auto& param) {
  std::string name(param.param->descriptor.name);
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST_P(HostilePeers, harm_nobody_else) {
  for (std::uint64_t seed = 1; seed <= 60 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto& worlds = fabric::contract::all_worlds();
    const auto sim = std::ranges::find(worlds, "sim", &fabric::contract::WorldKind::name);
    const std::unique_ptr<fabric::contract::World> world = sim->make(seed);
    Rig rig(*GetParam(), *world,
            {.most_clients = 3, .window = 2, .body_bytes = 256, .resend_ns = 2'000'000});
    const std::unique_ptr<DesignClient> good = rig.connect();
    Random random(mix(seed));
    {
      Hostile hostile(rig, random);
      for (std::uint64_t i = 0; i < 12; ++i) {
        hostile.act();
        const std::string text = text_of(random.below(257), seed + i);
        ASSERT_EQ(rig.ask(*good, echo, text), text);
      }
    }
    ASSERT_EQ(rig.ask(*good, echo, "still here"), "still here");
  }
}

}  // namespace
}  // namespace remora::rpc::contract
