#include "lab/world/node.h"

#include "base/check.h"
#include "lab/memory/images.h"
#include "runtime/abandon.h"

namespace remora::lab {
namespace {

// Where processes reach each other's memory, a FLUSH is the work of a CPU, whatever NICs do.
fabric::FlushWorth flush_worth_of(const NodeOptions& options) {
  return options.host == nullptr && options.platform.flush == FlushMeaning::pcie
             ? fabric::FlushWorth::pushed
             : fabric::FlushWorth::persistent;
}

}  // namespace

Node::Machine::Machine(Node& node, std::uint64_t seed)
    : region(node.memory_),
      committer(node.memory_),
      dma(node.loop_, node.memory_, Random(mix(seed)), node.options_.placement),
      posted(node.options_.sites),
      nic(node.loop_, with_actor(node, seed), dma,
          fabric::nic::NicOptions{
              .keys = fabric::nic::Keys::from_seed(seed),
              .pin_down_entries = static_cast<std::uint32_t>(node.wire_.pin_down_entries()),
              .flush_worth = flush_worth_of(node.options_),
              .overseer = posted.get(),
              .faults = node.options_.faults}) {
  node.loop_.add_poller(committer);
}

// The wire, which must know of the actor before a NIC is made on it.
fabric::nic::sim::SimWire& Node::Machine::with_actor(Node& node, std::uint64_t seed) {
  if (node.options_.host != nullptr) {
    actor.emplace(node.loop_, *node.options_.host, node.wire_, node.memory_, dma,
                  Random(mix(seed ^ 0x6d61707065640001)), node.options_.actor);
  }
  node.wire_.declare(
      {.verbs = fabric::all_vendor_verbs, .flush_worth = flush_worth_of(node.options_)});
  return node.wire_;
}

Node::Machine::~Machine() {
  const AbandonScope power_is_gone;
  if (actor) {
    actor->power_off();
  }
  dma.power_off();
  flows.abandon();
  while (!programs.empty()) {
    programs.pop_back();
  }
}

Node::Node(VirtualLoop& loop, fabric::nic::sim::SimNetwork& network, const NodeOptions& options)
    : loop_(loop),
      network_(network),
      wire_(network.add_node()),
      options_(options),
      random_(mix(options.seed)),
      memory_(options.memory_bytes, options.platform, random_.fork(), options.sites),
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

MappedActor& Node::actor() {
  REMORA_CHECK(machine().actor.has_value(), "the node shares no host");
  return *machine().actor;
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

void Node::kill() {
  REMORA_CHECK(powered(), "the node has no power");
  network_.power_off(id());
  machine_.reset();
  memory_.kill();
  power_on();
}

void Node::power_on() {
  REMORA_CHECK(!powered(), "the node has power");
  network_.power_on(id());
  machine_ = std::make_unique<Machine>(*this, random_.next());
}

}  // namespace remora::lab
