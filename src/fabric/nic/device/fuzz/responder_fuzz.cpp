// A device at which a stranger's packets arrive. The bytes of the fuzzer choose them: requests of
// every kind to queue pairs with all rights, some, none, and of another domain, with keys that are
// right, foreign, stale or made up, at the edges of regions, in order and out of it. Between them
// regions come and go, receives are posted, and the wire has no room.
//
// One packet at a time, it is known what each of them may do, and nothing else must have happened.
// Several at once are known less well: nothing that no right leads to may change, or be told.
#include <algorithm>
#include <array>
#include <vector>

#include "fabric/nic/device/fuzz/draft.h"
#include "fabric/nic/device/fuzz/ground.h"
#include "fabric/nic/device/fuzz/input.h"
#include "fabric/nic/device/fuzz/nic_fuzz.h"
#include "fabric/nic/device/fuzz/partner.h"
#include "fabric/nic/device/fuzz/silent.h"
#include "fabric/nic/device/testing/two_nics.h"

namespace remora::fabric::nic::fuzz {
namespace {

constexpr std::uint32_t scene_mtu_bytes = 32;
constexpr std::uint32_t violation_limit = 4;
constexpr std::size_t packets_at_most = 64;  // see written_mask
constexpr std::uint32_t slot_bytes = 64;
constexpr std::size_t slots = plot_bytes / slot_bytes;
constexpr std::uint64_t settling_ns = 2 * limits::persistence_poll_ns;
constexpr QpNumber first_partner = 0x000a01;

constexpr Asker askers[] = {
    {.rights = every_access},
    {.rights = 0},
    {.rights = remote_read | remote_atomic | flush_visibility},
    {.foreign = true, .rights = every_access},
};

struct SilentOne {
  Transport transport;
  Asker asker;
};
constexpr SilentOne silent_ones[] = {
    {Transport::uc, {.rights = every_access}},
    {Transport::uc, {.rights = remote_read}},
    {Transport::uc, {.foreign = true, .rights = every_access}},
    {Transport::ud, {.rights = every_access}},
};
constexpr QpNumber first_silent = 0x000b01;

class Scene {
 public:
  explicit Scene(Input& input)
      : input_(input),
        traits_(input.byte()),
        options_{.mtu_bytes = scene_mtu_bytes,
                 .lossless = (traits_ & 1) != 0,
                 .gathers = (traits_ & 2) != 0,
                 .carries_riders = (traits_ & 8) != 0,
                 .memory_bytes = word_bytes,
                 .violation_limit = violation_limit,
                 .pin_down_entries = limits::cache_ways},
        near_(loop_, 1, options_),
        far_(loop_, 0, scene_mtu_bytes, options_.lossless),
        foreign_(near_.nic.create_domain()),
        ground_(*near_.domain, *foreign_,
                (traits_ & 4) != 0 ? Granularity::page : Granularity::cache_line),
        drafter_(input, ground_, scene_mtu_bytes) {
    TestWire::join(near_.wire, far_);
    near_.wire.hold();
    for (const Asker& asker : askers) {
      const auto number = static_cast<QpNumber>(first_partner + partners_.size());
      ProtectionDomain& domain = asker.foreign ? *foreign_ : *near_.domain;
      partners_.push_back(std::make_unique<Partner>(
          ground_,
          std::move(domain.create_queue_pair({.send_queue = near_.sends.get(),
                                              .receive_queue = near_.receives.get(),
                                              .max_sends = 1,
                                              .max_receives = slots}))
              .value(),
          asker, number, far_.gid(), scene_mtu_bytes));
    }
    for (const SilentOne& one : silent_ones) {
      const auto number = static_cast<QpNumber>(first_silent + silents_.size());
      ProtectionDomain& domain = one.asker.foreign ? *foreign_ : *near_.domain;
      silents_.push_back(std::make_unique<Silent>(
          ground_,
          std::move(domain.create_queue_pair({.send_queue = near_.sends.get(),
                                              .receive_queue = near_.receives.get(),
                                              .max_sends = 1,
                                              .max_receives = slots,
                                              .transport = one.transport,
                                              .queue_key = silent_key}))
              .value(),
          one.transport, one.asker, number, far_.gid(), near_.wire.gid(), scene_mtu_bytes));
    }
  }

  void run() {
    while (!input_.empty() && packets_ < packets_at_most && !near_.wire.was_cut_off()) {
      step();
    }
  }

 private:
  void step() {
    const std::uint8_t what = input_.byte();
    const std::uint8_t choice = what >> 3;
    switch (what & 7) {
      case 0:
        burst(choice);
        return;
      case 1:
        replace(static_cast<Plot>(choice % plot_count));
        break;
      case 2:
        partners_[choice % partners_.size()]->reconnect();
        near_.wire.drop_held();
        break;
      case 3:
        post_receive(choice);
        break;
      case 4:
        raw(choice);
        break;
      case 5:
        whisper(choice);
        break;
      default:
        const Draft draft = drafter_.next(partners_, expected());
        deliver(draft.packet, draft.payload);
    }
    check_all();
  }

  std::vector<PacketSequence> expected() const {
    std::vector<PacketSequence> all;
    for (const auto& partner : partners_) {
      all.push_back(partner->expected());
    }
    return all;
  }

  // --- One at a time ---

  std::vector<Said> exchange(Said bytes) {
    near_.wire.inject(std::move(bytes));
    loop_.run_for(settling_ns);
    return near_.wire.take_held();
  }

  Partner* partner_of(QpNumber near_number) {
    for (const auto& partner : partners_) {
      if (partner->qp().number() == near_number) {
        return partner.get();
      }
    }
    return nullptr;
  }

  void deliver(const Packet& packet, ConstBytes payload) {
    ++packets_;
    const Said bytes = encoded(packet, payload);
    Parsed parsed;
    const bool is_packet = parse(bytes, parsed);
    Partner* const partner = is_packet ? partner_of(parsed.packet.queue_pair) : nullptr;
    const std::vector<Said> said = exchange(bytes);
    if (partner == nullptr || !is_request(packet.opcode)) {
      check_silence(said);
      return;
    }
    if (!partner->learn(said) && !partner->failed() && partner->qp().state() != QpState::error) {
      ask(*partner);
    }
    violations_ += !partner->failed() && was_violated(*partner, said) ? 1U : 0U;
    REMORA_CHECK(violations_ < violation_limit || near_.wire.was_cut_off(),
                 "one that keeps guessing is cut off");
    partner->judge(parsed.packet, parsed.payload, said);
  }

  static bool was_violated(const Partner& partner, const std::vector<Said>& all) {
    return std::ranges::any_of(all, [&](const Said& said) {
      Parsed parsed;
      return parse(said, parsed) && parsed.packet.queue_pair == partner.number() &&
             parsed.packet.opcode == PacketOpcode::acknowledge &&
             parsed.packet.syndrome == syndrome_nak_access;
    });
  }

  // A request that has been before is acknowledged once more, and so tells what is expected.
  void ask(Partner& partner) {
    Packet packet;
    packet.opcode = PacketOpcode::send_only;
    packet.queue_pair = partner.qp().number();
    packet.sequence = psn_add(partner.expected(), sequence_mask);
    REMORA_CHECK(partner.learn(exchange(encoded(packet, {}))), "a queue pair that is well answers");
  }

  // What is for nobody, or answers nothing, is not answered; but nobody's sender may be told so.
  static void check_silence(const std::vector<Said>& all) {
    for (const Said& said : all) {
      Parsed parsed;
      REMORA_CHECK(parse(said, parsed) && parsed.packet.queue_pair == notice_number,
                   "an answer to what was no request");
    }
  }

  // To one that answers nothing; or one of these begins anew, or has a receive.
  void whisper(std::uint8_t choice) {
    Silent& silent = *silents_[choice % silents_.size()];
    if (choice >= 28) {
      silent.reconnect();
    } else if (choice >= 20 && next_slot_ < slots) {
      const std::uint32_t size_bytes = slot_bytes - input_.byte() % (slot_bytes / 2);
      silent.post_receive(next_slot_++ * slot_bytes, size_bytes, size_bytes % 8 != 1);
    } else if (choice < 20) {
      ++packets_;
      const Draft draft = drafter_.next(silent);
      const bool breached = silent.judge(draft.packet, draft.payload);
      violations_ += breached ? 1U : 0U;
      check_silence(exchange(encoded(draft.packet, draft.payload)));
      REMORA_CHECK(violations_ < violation_limit || near_.wire.was_cut_off(),
                   "one that keeps guessing is cut off");
    }
  }

  // Any bytes; more often than not with the numbers that let them in.
  void raw(std::uint8_t choice) {
    const ConstBytes taken = input_.take(input_.byte() % 128);
    std::vector<std::byte> bytes(taken.begin(), taken.end());
    const Partner& partner = *partners_[choice & 3];
    if ((choice & 4) == 0 && bytes.size() >= bth_bytes) {
      store(&bytes[4], __builtin_bswap32(partner.qp().number()));
      store(&bytes[8], __builtin_bswap32(partner.expected()));
    }
    Parsed parsed;
    if (!parse(bytes, parsed)) {
      ++packets_;
      check_silence(exchange(std::move(bytes)));
      return;
    }
    std::vector<std::byte> payload(parsed.payload.begin(), parsed.payload.end());
    make_plain(parsed.packet, payload);
    deliver(parsed.packet, payload);
  }

  // --- Several at once ---

  void burst(std::uint8_t choice) {
    std::vector<PacketSequence> guesses = expected();
    // An acknowledgement that waits for company and finds no room asks for the next turn, again and
    // again; virtual time stands still meanwhile.
    const bool has_room = (choice & 1) == 0 || options_.gathers || options_.carries_riders;
    near_.wire.set_credits(has_room ? SIZE_MAX : 0);
    for (int left = 2 + input_.byte() % 7; left > 0; --left) {
      const Draft draft = drafter_.next(partners_, guesses);
      PacketSequence& guess = guesses[draft.from];
      guess = psn_add(guess, draft.numbers);
      near_.wire.inject(encoded(draft.packet, draft.payload));
      ++packets_;
    }
    if (!has_room) {
      loop_.run_for(settling_ns);
    }
    std::array<bool, plot_count> changed = changeable();
    if ((choice & 2) != 0) {
      const Plot replaced = static_cast<Plot>((choice >> 2) % plot_count);
      ground_.check_but(changed);
      replace(replaced);
      changed[replaced] = false;  // what is on its way has no key to it any more
    }
    near_.wire.set_credits(SIZE_MAX);
    loop_.run_for(settling_ns);
    for (const Said& said : near_.wire.take_held()) {
      check_discreet(said);
    }
    ground_.check_but(changed);
    (void)near_.received();
    for (const auto& partner : partners_) {
      if (!near_.wire.was_cut_off()) {
        partner->reconnect();
      }
    }
    near_.wire.drop_held();
  }

  // Nothing gets out to whom it is not for.
  void check_discreet(const Said& said) {
    Parsed parsed;
    REMORA_CHECK(parse(said, parsed), "a device says packets only");
    for (const auto& partner : partners_) {
      const Asker& asker = partner->asker();
      if (parsed.packet.queue_pair != partner->number() || asker.foreign) {
        continue;
      }
      REMORA_CHECK(asker.rights != 0 || (parsed.payload.empty() && parsed.packet.value_before == 0),
                   "bytes for one that has no right to any");
      for (const std::byte byte : parsed.payload) {
        REMORA_CHECK(std::to_integer<std::uint8_t>(byte) < secret, "a secret got out");
      }
    }
  }

  // Where any of the partners may have something changed.
  std::array<bool, plot_count> changeable() const {
    std::array<bool, plot_count> changed = {};
    for (const auto& partner : partners_) {
      for (std::size_t plot = 0; plot < plot_count; ++plot) {
        changed[plot] |= Ground::may_change(partner->asker(), static_cast<Plot>(plot));
      }
      changed[plot_receiving] |= partner->has_receives();
    }
    return changed;
  }

  // --- The rest ---

  void replace(Plot plot) {
    ground_.replace(plot);
    for (const auto& partner : partners_) {
      if (plot == plot_receiving) {
        partner->lose_receives();
      }
    }
    for (const auto& silent : silents_) {
      if (plot == plot_receiving) {
        silent->lose_receives();
      }
    }
  }

  void post_receive(std::uint8_t choice) {
    if (next_slot_ < slots) {
      const std::uint32_t size_bytes = input_.byte() % (slot_bytes + 1);
      partners_[choice & 3]->post_receive(next_slot_ * slot_bytes, size_bytes, (choice & 4) == 0);
      ++next_slot_;
    }
  }

  void check_all() {
    for (const WorkCompletion& completion : near_.received()) {
      if (Partner* const partner = partner_of(completion.qp)) {
        partner->take(completion);
        continue;
      }
      const auto silent = std::ranges::find(silents_, completion.qp,
                                            [](const auto& one) { return one->qp().number(); });
      REMORA_CHECK(silent != silents_.end(), "a completion of nobody");
      (*silent)->take(completion);
    }
    REMORA_CHECK(near_.sent().empty(), "a completion of what nobody has posted");
    if (near_.wire.was_cut_off()) {
      REMORA_CHECK(near_.nic.counters().access_violations >= violation_limit,
                   "cut off for nothing");
    }
    for (const auto& partner : partners_) {
      REMORA_CHECK(!near_.wire.was_cut_off() || partner->qp().state() == QpState::error,
                   "who is cut off has no queue pair left");
      partner->check_state();
    }
    for (const auto& silent : silents_) {
      silent->check_state();
    }
    ground_.check();
  }

  Input& input_;
  const std::uint8_t traits_;
  const TestOptions options_;
  VirtualLoop loop_;
  Side near_;
  TestWire far_;
  std::unique_ptr<ProtectionDomain> foreign_;
  Ground ground_;
  Drafter drafter_;
  std::vector<std::unique_ptr<Partner>> partners_;
  std::vector<std::unique_ptr<Silent>> silents_;
  std::size_t packets_ = 0;
  std::size_t next_slot_ = 0;
  std::uint32_t violations_ = 0;  // that are known of
};

}  // namespace

int try_responder(const std::uint8_t* data, std::size_t size) {
  Input input(std::as_bytes(std::span(data, size)));
  Scene(input).run();
  return 0;
}

}  // namespace remora::fabric::nic::fuzz

#ifdef REMORA_FUZZER
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return remora::fabric::nic::fuzz::try_responder(data, size);
}
#endif
