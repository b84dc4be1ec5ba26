// Verbs for durability under power cuts: what was told is there afterwards, in the order that D2,
// D3, D5, D7 and D10 of fabric/queue_pair.h give; and each mistake that a device can make with them
// is noticed. The power goes between any two steps: before DMA B, in it, behind it, before the
// answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fabric/message_log.h"
#include "fabric/nic/faults.h"
#include "fabric/nic/wire/sim/profile.h"
#include "lab/world/node.h"

namespace remora::lab {
namespace {

using fabric::MessageLogOptions;
using fabric::Opcode;
using fabric::SendWork;
using fabric::WorkCompletion;
using fabric::WorkStatus;

constexpr std::size_t message_bytes = 448;
constexpr std::size_t slot_bytes = 512;
constexpr std::uint64_t slots = 24;
constexpr std::uint32_t places = 6;
constexpr std::size_t receives = 4;
constexpr std::size_t slots_at = page_bytes;
constexpr std::size_t places_at = slots_at + slots * slot_bytes;
constexpr std::size_t server_bytes = 6 * page_bytes;
static_assert(places_at + places * slot_bytes <= server_bytes);

// What a device is used for in one life.
enum class Use : std::uint8_t { payload, immediate, sflush, rflush_send, rflush_write };
constexpr Use uses[] = {Use::payload, Use::immediate, Use::sflush, Use::rflush_send,
                        Use::rflush_write};

struct Settings {
  Use use = Use::payload;
  bool ordered = false;
  Platform platform = {};
  Faults faults = {};
  MappedHost* host = nullptr;
};

std::vector<std::byte> bytes_of(std::uint64_t number) {
  std::vector<std::byte> bytes(message_bytes);
  for (std::size_t i = 0; i < bytes.size(); i += word_bytes) {
    store(bytes.data() + i, i == 0 ? number : mix(number * 8192 + i));
  }
  return bytes;
}

// One side of the connection. It lives in the DRAM of its node.
struct End {
  End(fabric::Device& device, Bytes memory, Region* medium, const Settings& settings) {
    domain = device.create_domain();
    const fabric::AccessFlags all =
        medium != nullptr ? fabric::every_access
                          : fabric::every_access & ~fabric::AccessFlags{fabric::flush_persistence};
    region = domain->register_memory(memory, all, medium).value();
    buffers = domain->register_memory(dram, fabric::local_write).value();
    sends = device.create_completion_queue(256).value();
    receives_told = device.create_completion_queue(256).value();
    if (medium != nullptr && settings.use == Use::rflush_write) {
      flushed = domain->register_memory(memory, all | fabric::flushes_writes, medium).value();
    }
    const bool has_log =
        medium != nullptr && (settings.use == Use::sflush || settings.use == Use::rflush_send);
    if (has_log) {
      log = std::make_unique<fabric::MessageLog>(
          *region, MessageLogOptions{.offset = places_at,
                                     .place_bytes = slot_bytes,
                                     .places = places,
                                     .ordered = settings.ordered,
                                     .by_itself = settings.use == Use::rflush_send});
    }
    qp =
        domain
            ->create_queue_pair(
                {.send_queue = sends.get(), .receive_queue = receives_told.get(), .log = log.get()})
            .value();
    EXPECT_TRUE(qp->initialise().ok());
  }

  std::vector<std::byte> dram = std::vector<std::byte>(64 * slot_bytes);
  std::unique_ptr<fabric::ProtectionDomain> domain;
  std::unique_ptr<fabric::MemoryRegion> region;
  std::unique_ptr<fabric::MemoryRegion> flushed;
  std::unique_ptr<fabric::MemoryRegion> buffers;
  std::unique_ptr<fabric::CompletionQueue> sends;
  std::unique_ptr<fabric::CompletionQueue> receives_told;
  std::unique_ptr<fabric::MessageLog> log;
  std::unique_ptr<fabric::QueuePair> qp;
};

class Life {
 public:
  Life(std::uint64_t seed, const Settings& settings)
      : settings_(settings),
        random_(mix(seed)),
        loop_({.seed = seed}),
        network_(loop_, *fabric::nic::sim::load_nic_profile("connectx-5"),
                 *fabric::nic::sim::load_memory_profile("optane"), Random(seed)),
        client_(loop_, network_, {.seed = 2 * seed, .host = settings.host}),
        server_(loop_, network_,
                {.memory_bytes = server_bytes,
                 .platform = settings.platform,
                 .seed = 2 * seed + 1,
                 .host = settings.host,
                 .faults = settings.faults}) {
    near_ = &client_.start<End>(client_.nic(), client_.region().bytes(), nullptr, settings);
    far_ =
        &server_.start<End>(server_.nic(), server_.region().bytes(), &server_.region(), settings);
    const fabric::ConnectOptions options{.timeout_ns = 200'000, .rnr_delay_ns = 10'000};
    EXPECT_TRUE(near_->qp->connect(far_->qp->address(), options).ok());
    EXPECT_TRUE(far_->qp->connect(near_->qp->address(), options).ok());
    for (std::size_t i = 0; i < receives; ++i) {
      post_receive(i);
    }
  }

  // Until the power goes: what was broken, or nothing.
  std::optional<std::string> run() {
    const std::uint64_t cut_ns = loop_.after(random_.between(2'000, 400'000));
    while (loop_.now_ns() < cut_ns) {
      hear_client();
      hear_server();
      while (outstanding_ < 4 && posted_ < slots) {
        post();
      }
      if (loop_.step() != RunState::running) {
        break;
      }
    }
    freed_ = far_->log == nullptr ? 0 : far_->log->freed();
    server_.cut_power();
    return judge();
  }

  std::uint64_t acknowledged() const { return acknowledged_.size(); }
  std::uint64_t told() const { return told_.size(); }
  std::uint64_t laps() const { return freed_ / places; }

 private:
  void post() {
    const std::uint64_t number = ++posted_;
    const std::vector<std::byte> bytes = bytes_of(number);
    const std::size_t from = (number % 32) * slot_bytes;
    std::memcpy(near_->dram.data() + from, bytes.data(), bytes.size());
    const fabric::Sge piece = near_->buffers->piece(from, message_bytes);
    const fabric::MemoryRegion& target =
        settings_.use == Use::rflush_write ? *far_->flushed : *far_->region;
    const fabric::RemoteAddress slot = target.remote(slot_of(number));
    SendWork first = {.id = number, .pieces = std::span(&piece, 1), .remote = slot};
    first.opcode = is_message() ? Opcode::send : Opcode::write;
    const bool is_last = settings_.use == Use::rflush_send || settings_.use == Use::rflush_write;
    first.signalled = is_last;
    EXPECT_TRUE(near_->qp->post_send(std::span(&first, 1)).ok());
    if (!is_last) {
      post_second(number, slot);
    }
    ++outstanding_;
  }

  void post_second(std::uint64_t number, const fabric::RemoteAddress& slot) {
    SendWork second = {.id = number,
                       .remote = slot,
                       .immediate = static_cast<std::uint32_t>(number),
                       .operand = number,
                       .flush_bytes = message_bytes};
    second.opcode = settings_.use == Use::payload     ? Opcode::flush_payload
                    : settings_.use == Use::immediate ? Opcode::flush_imm
                                                      : Opcode::sflush;
    if (settings_.use == Use::payload) {
      second.word = far_->region->remote(number * word_bytes);
    }
    EXPECT_TRUE(near_->qp->post_send(std::span(&second, 1)).ok());
  }

  bool is_message() const {
    return settings_.use == Use::sflush || settings_.use == Use::rflush_send;
  }
  static std::size_t slot_of(std::uint64_t number) { return slots_at + (number - 1) * slot_bytes; }

  void post_receive(std::uint64_t id) {
    const fabric::Sge piece = far_->buffers->piece(id * slot_bytes, slot_bytes);
    const fabric::ReceiveWork work = {.id = id, .pieces = std::span(&piece, 1)};
    EXPECT_TRUE(far_->qp->post_receive(std::span(&work, 1)).ok());
  }

  void hear_client() {
    WorkCompletion completion;
    while (near_->sends->poll(std::span(&completion, 1)) != 0) {
      EXPECT_EQ(completion.status, WorkStatus::success) << to_string(completion.status);
      acknowledged_.insert(completion.id);
      --outstanding_;
    }
  }

  // The server's program uses a receive for something else as soon as it is told.
  void hear_server() {
    WorkCompletion completion;
    while (far_->receives_told->poll(std::span(&completion, 1)) != 0) {
      const bool is_message = completion.opcode == Opcode::receive_logged;
      told_.insert(is_message ? ++messages_told_ : completion.immediate);
      std::fill_n(far_->dram.data() + completion.id * slot_bytes, slot_bytes, std::byte{0xdd});
      post_receive(completion.id);
    }
    // It is slow in giving places back.
    if (far_->log != nullptr && far_->log->filled() > far_->log->freed() && random_.chance(1, 24)) {
      far_->log->give_back(1);
    }
  }

  bool has(std::size_t at, std::uint64_t number, std::size_t from = 0) const {
    const std::vector<std::byte> expected = bytes_of(number);
    return std::equal(expected.begin() + static_cast<std::ptrdiff_t>(from), expected.end(),
                      server_.memory().visible().begin() + static_cast<std::ptrdiff_t>(at + from));
  }
  std::uint64_t word_at(std::size_t at) const {
    return load<std::uint64_t>(server_.memory().visible().data() + at);
  }

  std::optional<std::string> judge() const { return is_message() ? judge_log() : judge_slots(); }

  std::optional<std::string> judge_slots() const {
    for (std::uint64_t number = 1; number <= posted_; ++number) {
      const std::string name = "number " + std::to_string(number);
      const bool promised = acknowledged_.contains(number) || told_.contains(number);
      const bool is_there = has(slot_of(number), number);
      if (promised && !is_there) {
        return name + " was told and is gone";
      }
      const std::uint64_t word = settings_.use == Use::payload ? word_at(number * word_bytes) : 0;
      if (word != 0 && word != number) {
        return name + " has a word of another";
      }
      if (word != 0 && !is_there) {
        return name + " has its word, and not its bytes";
      }
      if (settings_.use == Use::payload && promised && word == 0) {
        return name + " was acknowledged without its word";
      }
    }
    return std::nullopt;
  }

  // Message n is in place n - 1; those that were given back may be overwritten.
  std::optional<std::string> judge_log() const {
    const std::size_t from = settings_.ordered ? cache_line_bytes : 0;
    for (std::uint64_t number = freed_ + 1; number <= posted_; ++number) {
      const std::size_t at = place_of(number);
      const bool promised = acknowledged_.contains(number) || told_.contains(number);
      if (promised && (word_at(at) != number || !has(at, number, from))) {
        return "message " + std::to_string(number) + " was told and is gone";
      }
    }
    for (std::uint64_t place = 0; settings_.ordered && place < places; ++place) {
      const std::size_t at = places_at + place * slot_bytes;
      const std::uint64_t number = word_at(at);
      // Of a place that was given back the next message may have begun.
      const bool may_change = number + places <= posted_ && number <= freed_;
      if (number != 0 && !may_change && !has(at, number, from)) {
        return "message " + std::to_string(number) + " has its word, and not its bytes";
      }
    }
    return std::nullopt;
  }
  static std::size_t place_of(std::uint64_t number) {
    return places_at + (number - 1) % places * slot_bytes;
  }

  const Settings settings_;
  Random random_;
  VirtualLoop loop_;
  fabric::nic::sim::SimNetwork network_;
  Node client_;
  mutable Node server_;
  End* near_ = nullptr;
  End* far_ = nullptr;  // gone when the power is
  std::uint64_t posted_ = 0;
  std::uint64_t outstanding_ = 0;
  std::uint64_t messages_told_ = 0;
  std::uint64_t freed_ = 0;
  std::set<std::uint64_t> acknowledged_;
  std::set<std::uint64_t> told_;
};

// Platforms on which a FLUSH of the device is worth something.
std::vector<Platform> trusted_platforms() {
  std::vector<Platform> all;
  for (const char* text : {"dmp,ddio=on", "dmp,ddio=off", "dmp,ddio=off,flush=pcie", "mhp,ddio=on",
                           "wsp,ddio=on,flush=pcie", "dmp,ddio=on,media=page"}) {
    all.push_back(parse_platform(text).value());
  }
  return all;
}

TEST(DurableVerbs, keep_what_they_have_told) {
  std::uint64_t acknowledged = 0;
  std::uint64_t laps = 0;
  std::map<Use, std::uint64_t> cut_between;
  for (const Platform& platform : trusted_platforms()) {
    for (const Use use : uses) {
      for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        Life life(seed, {.use = use, .ordered = seed % 2 == 0, .platform = platform});
        const std::optional<std::string> broken = life.run();
        ASSERT_EQ(broken, std::nullopt)
            << to_string(platform) << ", use " << static_cast<int>(use) << ", seed " << seed;
        acknowledged += life.acknowledged();
        laps += life.laps();
        cut_between[use] += life.told() > life.acknowledged() ? 1U : 0U;
      }
    }
  }
  // That all of it was reached.
  EXPECT_GT(acknowledged, 1'000U);
  EXPECT_GT(laps, 10U);
  EXPECT_GT(cut_between[Use::sflush], 10U) << "the power never went between DMA B and the answer";
  EXPECT_GT(cut_between[Use::immediate], 10U);
}

// Where both are processes of one machine, FLUSH with payload is the initiator's own work.
TEST(DurableVerbs, keep_it_on_one_machine_too) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    MappedHost host;
    const Use use = seed % 3 == 0 ? Use::immediate : Use::payload;
    Life life(seed, {.use = use, .host = &host});
    ASSERT_EQ(life.run(), std::nullopt) << seed;
  }
}

// What a device has pushed out of itself, and no more, may be in a cache that is lost.
TEST(DurableVerbs, are_worth_no_more_than_the_device_says) {
  const Platform platform = parse_platform("dmp,ddio=on,flush=pcie").value();
  std::uint64_t lost = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Life life(seed, {.use = uses[seed % 5], .platform = platform});
    lost += life.run().has_value() ? 1U : 0U;
  }
  EXPECT_GT(lost, 0U);
}

struct Mistake {
  const Fault* fault;
  Use use;
  bool ordered;
};

class Planted : public testing::TestWithParam<Mistake> {};

TEST_P(Planted, is_noticed) {
  const Platform platform = parse_platform("dmp,ddio=on").value();
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const Settings settings = {.use = GetParam().use,
                               .ordered = GetParam().ordered,
                               .platform = platform,
                               .faults = Faults(*GetParam().fault)};
    if (Life(seed, settings).run()) {
      EXPECT_TRUE(Life(seed, settings).run()) << "the same seed gives the same run";
      RecordProperty("seed", static_cast<int>(seed));
      return;
    }
  }
  FAIL() << GetParam().fault->name << " was not noticed";
}

INSTANTIATE_TEST_SUITE_P(
    DurableVerbs, Planted,
    testing::Values(Mistake{&fabric::nic::payload_before_bytes, Use::payload, false},
                    Mistake{&fabric::nic::immediate_before_bytes, Use::immediate, false},
                    Mistake{&fabric::nic::sflush_before_copy, Use::sflush, false},
                    Mistake{&fabric::nic::told_before_move, Use::sflush, false},
                    Mistake{&fabric::nic::operator_before_data, Use::sflush, true},
                    Mistake{&fabric::nic::operator_before_data, Use::rflush_send, true},
                    Mistake{&fabric::nic::place_before_free, Use::sflush, false},
                    Mistake{&fabric::nic::place_before_free, Use::rflush_send, false},
                    Mistake{&fabric::nic::rflush_before_drain, Use::rflush_send, false},
                    Mistake{&fabric::nic::rflush_before_drain, Use::rflush_write, false}),
    [](const auto& tested) {
      std::string name(tested.param.fault->name);
      std::replace(name.begin(), name.end(), '-', '_');
      return name + "_" + std::to_string(tested.index);
    });

TEST(DurableVerbs, every_mistake_of_a_device_is_planted_here) {
  EXPECT_EQ(fabric::nic::durable_faults.size(), 7U);
}

}  // namespace
}  // namespace remora::lab
