#include "sim/world/node.h"

#include "base/check.h"
#include "runtime/abandon.h"
#include "sim/memory/images.h"

namespace remora::sim {

Node::Machine::Machine(Node& node, std::uint64_t seed)
    : region(node.memory_),
      committer(node.memory_),
      dma(node.loop_, node.memory_, Random(mix(seed)), node.options_.placement),
      nic(node.loop_, node.wire_, dma,
          fabric::nic::NicOptions{.keys = fabric::nic::Keys::from_seed(seed)}) {
  node.loop_.add_poller(committer);
}

Node::Machine::~Machine() {
  const AbandonScope power_is_gone;
  dma.power_off();
  flows.abandon();
  while (!programs.empty()) {
    programs.pop_back();
  }
}

Node::Node(VirtualLoop& loop, fabric::nic::SimNetwork& network, const NodeOptions& options)
    : loop_(loop),
      network_(network),
      wire_(network.add_node()),
      options_(options),
      random_(mix(options.seed)),
      memory_(options.memory_bytes, options.platform, random_.fork()),
      machine_(std::make_unique<Machine>(*this, random_.next())) {}

Node::~Node() {
  if (powered()) {
    network_.power_off(id());
  }
}

Node::Machine& Node::machine() {
  REMORA_CHECK(powered(), "the node has no power");
  return *machine_;
}

fabric::nic::Nic& Node::nic() {
  return machine().nic;
}

CrashRegion& Node::region() {
  return machine().region;
}

std::vector<std::byte> Node::choose_image() {
  Images images({.exhaustive = 1, .samples = 16});
  images.take(memory_, random_.fork());
  const std::uint64_t chosen = random_.below(images.planned());
  for (std::uint64_t i = 0; i <= chosen; ++i) {
    REMORA_CHECK(images.next(), "fewer images than were planned");
  }
  return {images.bytes().begin(), images.bytes().end()};
}

void Node::cut_power() {
  cut_power(choose_image());
}

void Node::cut_power(ConstBytes image) {
  REMORA_CHECK(powered(), "the node has no power");
  const std::vector<std::byte> kept(image.begin(), image.end());
  network_.power_off(id());
  machine_.reset();
  memory_.restart(kept);
}

void Node::power_on() {
  REMORA_CHECK(!powered(), "the node has power");
  network_.power_on(id());
  machine_ = std::make_unique<Machine>(*this, random_.next());
}

}  // namespace remora::sim
