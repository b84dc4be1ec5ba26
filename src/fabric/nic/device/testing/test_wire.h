// For the tests of this layer: a wire between two devices on one loop, whose every packet a test
// can let through, drop, double, delay or hold back.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "fabric/nic/packet/packet.h"
#include "fabric/nic/wire.h"
#include "runtime/runtime.h"

namespace remora::fabric::nic {

// What becomes of a packet: one copy for each delay. None: it is lost.
using Fate = std::vector<std::uint64_t>;

class TestWire final : public Wire, public RiderCarrier {
 public:
  using Choose = std::function<Fate(const Packet&)>;

  TestWire(Runtime& runtime, std::uint8_t id, std::uint32_t mtu_bytes, bool lossless,
           std::uint32_t window_packets = 0, bool gathers = false, bool carries_riders = false)
      : runtime_(runtime),
        mtu_bytes_(mtu_bytes),
        lossless_(lossless),
        window_packets_(window_packets),
        gathers_(gathers),
        carries_riders_(carries_riders),
        arrival_(*this) {
    gid_[15] = id;
  }

  ~TestWire() override {
    if (peer_ != nullptr) {
      peer_->up_ = false;
      peer_->peer_ = nullptr;
    }
  }

  static void join(TestWire& a, TestWire& b) {
    a.peer_ = &b;
    b.peer_ = &a;
  }

  // Asked for each packet that this side sends; without it all arrive at once.
  void choose(Choose choose) { choose_ = std::move(choose); }
  // Packets that may wait for the peer before this side finds no room.
  void set_credits(std::size_t credits) { credits_ = credits; }
  // Packets are kept back from here on, until they are released.
  void hold() { holding_ = true; }
  std::size_t held() const { return held_.size(); }
  Packet peek_held(std::size_t index) const {
    Parsed parsed;
    REMORA_CHECK(parse(held_[index], parsed), "what was sent is a packet");
    return parsed.packet;
  }
  // Lets those that are held arrive, and all that follow.
  void release() {
    holding_ = false;
    for (std::vector<std::byte>& packet : std::exchange(held_, {})) {
      peer_->arrive(std::move(packet), 0);
    }
  }
  void drop_held() { held_.clear(); }
  // The same, for who wants to see their bytes.
  std::vector<std::vector<std::byte>> take_held() { return std::exchange(held_, {}); }
  void release_one(std::size_t index) { peer_->arrive(held_[index], 0); }
  // The link goes down on both sides.
  void cut() {
    for (TestWire* wire : {this, peer_}) {
      wire->up_ = false;
      wire->tell_down_ = true;
      wire->inbox_.clear();
      wire->runtime_.run_soon(wire->arrival_);
    }
  }
  // A packet that the peer never sent.
  void inject(std::vector<std::byte> bytes) { arrive(std::move(bytes), 0); }

  std::uint64_t sent() const { return sent_; }
  // How often it was told that the peer has enough to do.
  std::uint64_t times_taken() const { return times_taken_; }
  std::uint64_t charged(Cost cost) const {
    const auto found = charged_.find(cost);
    return found == charged_.end() ? 0 : found->second;
  }
  bool was_cut_off() const { return cut_off_; }
  // For those who connect from here on.
  void agree(VendorVerbs verbs) { verbs_ = verbs; }

  Gid gid() const { return gid_; }
  WireTraits traits() const override {
    return {.name = "test",
            .gid = gid_,
            .links = {.mtu_bytes = mtu_bytes_,
                      .lossless = lossless_,
                      .window_packets = window_packets_,
                      .gathers = gathers_,
                      .carries_riders = carries_riders_,
                      .agreed = {.verbs = verbs_}}};
  }
  LinkTraits traits(LinkId) const override { return traits().links; }
  WireParts parts() override { return {.riders = carries_riders_ ? this : nullptr}; }
  std::optional<LinkId> link_to(const Gid& peer) const override {
    return up_ && peer_ != nullptr && peer == peer_->gid_ ? std::optional<LinkId>(link)
                                                          : std::nullopt;
  }
  Gid peer_of(LinkId) const override { return peer_ == nullptr ? Gid{} : peer_->gid_; }
  Bytes reserve(LinkId, std::size_t size_bytes) override {
    if (!up_ || peer_->inbox_.size() >= credits_) {
      return {};
    }
    open_.assign(size_bytes, std::byte{0xcc});
    rider_.clear();
    return open_;
  }
  Bytes reserve_with(LinkId, ConstBytes rider, std::size_t size_bytes) override {
    REMORA_CHECK(carries_riders_ && rider.size() == rider_bytes &&
                     size_bytes + rider_bytes <= mtu_bytes_ + max_header_bytes,
                 "no such rider");
    const Bytes room = reserve(link, size_bytes);
    rider_.assign(rider.begin(), rider.end());
    return room;
  }
  void commit() override {
    if (!rider_.empty()) {
      ++riders_;
      std::vector<std::byte> packet = std::exchange(open_, std::exchange(rider_, {}));
      send_open();
      open_ = std::move(packet);
    }
    ++sent_;
    send_open();
  }
  // Packets that went with others, which sent() does not count.
  std::uint64_t riders() const { return riders_; }
  void take_time(LinkId) override { ++times_taken_; }
  void flush() override {}
  std::size_t poll(PacketSink& sink, std::size_t budget) override {
    if (std::exchange(tell_down_, false)) {
      sink.link_down(link);
    }
    std::size_t count = 0;
    while (count < budget && !inbox_.empty() && inbox_.begin()->first <= runtime_.now_ns()) {
      const std::vector<std::byte> packet = std::move(inbox_.begin()->second);
      inbox_.erase(inbox_.begin());
      sink.receive(link, packet);
      ++count;
    }
    expect_next();
    return count;
  }
  void charge(Cost cost, std::uint64_t count) override { charged_[cost] += count; }
  void cut_off(LinkId) override {
    cut_off_ = true;
    cut();
  }

 private:
  void send_open() {
    if (holding_) {
      held_.push_back(open_);
      return;
    }
    Parsed parsed;
    REMORA_CHECK(parse(open_, parsed), "a device sends packets only");
    for (const std::uint64_t delay_ns : choose_ ? choose_(parsed.packet) : Fate{0}) {
      peer_->arrive(open_, delay_ns);
    }
  }

  static constexpr LinkId link = 7;

  class Arrival final : public Timer {
   public:
    explicit Arrival(TestWire& wire) : wire_(wire) {}
    void expire() override { wire_.expect_next(); }

   private:
    TestWire& wire_;
  };

  void arrive(std::vector<std::byte> packet, std::uint64_t delay_ns) {
    if (up_) {
      inbox_.emplace(runtime_.now_ns() + delay_ns, std::move(packet));
      runtime_.arm(arrival_, inbox_.begin()->first);
    }
  }
  // The poll that follows the timer's event takes what has arrived.
  void expect_next() {
    const auto next = inbox_.upper_bound(runtime_.now_ns());
    if (next != inbox_.end()) {
      runtime_.arm(arrival_, next->first);
    }
  }

  Runtime& runtime_;
  Gid gid_{};
  const std::uint32_t mtu_bytes_;
  const bool lossless_;
  const std::uint32_t window_packets_;
  const bool gathers_;
  const bool carries_riders_;
  TestWire* peer_ = nullptr;
  Choose choose_;
  std::size_t credits_ = 1'000'000;
  bool holding_ = false;
  bool up_ = true;
  bool tell_down_ = false;
  VendorVerbs verbs_ = all_vendor_verbs;
  bool cut_off_ = false;
  std::uint64_t times_taken_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t riders_ = 0;
  std::vector<std::byte> open_;
  std::vector<std::byte> rider_;  // of that
  std::vector<std::vector<std::byte>> held_;
  std::multimap<std::uint64_t, std::vector<std::byte>> inbox_;
  std::map<Cost, std::uint64_t> charged_;
  Arrival arrival_;
};

}  // namespace remora::fabric::nic
