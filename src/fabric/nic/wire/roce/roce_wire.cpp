#include "fabric/nic/wire/roce/roce_wire.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/hash.h"
#include "fabric/nic/packet/packet.h"
#include "fabric/nic/wire/roce/path_mtu.h"
#include "runtime/system_random.h"

namespace remora::fabric::nic::roce {
namespace {

using limits::icrc_bytes;

constexpr std::uint32_t million = 1'000'000;

std::uint32_t window_of(std::uint32_t buffer_bytes, std::uint32_t mtu_bytes) {
  const std::uint32_t bytes = std::min(buffer_bytes / limits::buffer_parts, limits::window_bytes);
  return std::clamp(bytes / mtu_bytes, limits::window_packets_min, limits::window_packets_max);
}

std::size_t largest_packet(std::uint32_t mtu_bytes) {
  return mtu_bytes + max_header_bytes;
}

}  // namespace

std::size_t RoceWire::EndpointHash::operator()(const IpEndpoint& endpoint) const {
  const auto* at = reinterpret_cast<const std::byte*>(endpoint.address.data());
  return mix(load<std::uint64_t>(at) ^ mix(load<std::uint64_t>(at + 8) ^ mix(endpoint.port)));
}

Result<std::unique_ptr<RoceWire>> RoceWire::create(const RoceWireOptions& options) {
  if (options.local.is_any()) {
    return Status(Code::invalid_argument,
                  "a RoCE device needs one address of this machine, since it is part of every "
                  "checksum; give one instead of " +
                      address_text(options.local.address));
  }
  REMORA_TRY_RESULT(by_interface, interface_mtu_of(options.local.address));
  const std::uint32_t mtu_bytes = options.mtu_bytes == 0 ? *by_interface : options.mtu_bytes;
  if (!is_roce_mtu(mtu_bytes)) {
    return Status(Code::invalid_argument, "a RoCE MTU is 256, 512, 1024, 2048 or 4096 bytes");
  }
  if (mtu_bytes > *by_interface) {
    return Status(Code::invalid_argument,
                  fmt::format("the interface of {} carries a RoCE MTU of at most {} bytes",
                              address_text(options.local.address), *by_interface));
  }
  REMORA_TRY_RESULT(socket, UdpSocket::open(options.local));
  return std::unique_ptr<RoceWire>(new RoceWire(std::move(socket).value(), options, mtu_bytes));
}

RoceWire::RoceWire(UdpSocket socket, const RoceWireOptions& options, std::uint32_t mtu_bytes)
    : socket_(std::move(socket)),
      mtu_bytes_(mtu_bytes),
      agreed_(options.agreed),
      window_packets_(window_of(socket_.receive_buffer_bytes(), mtu_bytes)),
      icrc_(socket_.local().is_v4() ? Icrc::Family::v4 : Icrc::Family::v6,
            largest_packet(mtu_bytes)),
      numbers_segments_(socket_.local().is_v4()),
      mark_(options.is_second ? link_of_second_wire : 0),
      links_(std::min(options.max_links, limits::links_max)),
      out_(limits::batch_bytes),
      in_(limits::receive_bytes),
      loss_ppm_(options.loss_ppm),
      loss_(options.loss_seed) {
  by_endpoint_.reserve(links_.size());
  ending_.reserve(links_.size());
  if (socket_.local().port == limits::udp_port) {
    gid_ = socket_.local().address;
  } else {
    fill_random(std::as_writable_bytes(std::span(gid_)));
  }
}

// --- Links ---

LinkId RoceWire::id_of(std::uint32_t slot) const {
  return mark_ | links_[slot].generation << limits::slot_bits | slot;
}

const RoceWire::Link* RoceWire::find(LinkId link) const {
  const std::uint32_t slot = link & (limits::links_max - 1);
  return slot < links_.size() && links_[slot].up && id_of(slot) == link ? &links_[slot] : nullptr;
}

const RocePeer* RoceWire::peer(LinkId link) const {
  const Link* found = find(link);
  return found == nullptr ? nullptr : &found->peer;
}

std::optional<LinkId> RoceWire::link_to(const Gid& peer) const {
  for (const auto& [endpoint, slot] : by_endpoint_) {
    if (links_[slot].peer.gid == peer) {
      return id_of(slot);
    }
  }
  return {};
}

Gid RoceWire::peer_of(LinkId link) const {
  const Link* found = find(link);
  return found == nullptr ? Gid{} : found->peer.gid;
}

Result<LinkId> RoceWire::add_link(const RocePeer& peer) {
  if (peer.endpoint.is_v4() != local().is_v4() || peer.endpoint.is_any() ||
      peer.endpoint.port == 0) {
    return Status(Code::invalid_argument,
                  fmt::format("a device at {} cannot reach {}; both need an address of one family",
                              to_string(local()), to_string(peer.endpoint)));
  }
  const std::uint32_t mtu_bytes = peer.mtu_bytes == 0 ? mtu_bytes_ : peer.mtu_bytes;
  if (!is_roce_mtu(mtu_bytes) || mtu_bytes > mtu_bytes_) {
    return Status(Code::invalid_argument,
                  fmt::format("a device with an MTU of {} bytes has no link with one of {}",
                              mtu_bytes_, mtu_bytes));
  }
  if (by_endpoint_.contains(peer.endpoint) || link_to(peer.gid)) {
    return Status(Code::in_use, "there is a link to " + to_string(peer.endpoint) + " already");
  }
  // A slot whose generations are used up stays empty, so that no id ever comes twice.
  constexpr std::uint32_t generations = link_id_mask / limits::links_max;
  const auto unused = std::ranges::find_if(
      links_, [](const Link& link) { return !link.up && link.generation < generations; });
  if (unused == links_.end()) {
    return Status(Code::no_space, fmt::format("all {} links are in use", links_.size()));
  }
  const auto slot = static_cast<std::uint32_t>(unused - links_.begin());
  unused->up = true;
  unused->segments = true;
  unused->peer = peer;
  unused->peer.mtu_bytes = mtu_bytes;
  unused->address = socket_address(peer.endpoint);
  unused->out = icrc_.path(local(), peer.endpoint);
  unused->in = {icrc_.path(peer.endpoint, local()), peer.rxe_flush_icrc};
  unused->in_port = peer.endpoint.port;
  unused->is_here = peer.endpoint.address == local().address;
  by_endpoint_.emplace(peer.endpoint, slot);
  sender_known_ = false;
  polls_to_look_ = empty_polls_ = 0;
  return id_of(slot);
}

void RoceWire::narrow(LinkId link, std::uint32_t mtu_bytes) {
  const Link* found = find(link);
  if (found != nullptr) {
    REMORA_CHECK(is_roce_mtu(mtu_bytes) && mtu_bytes <= found->peer.mtu_bytes, "an MTU that grows");
    links_[static_cast<std::size_t>(found - links_.data())].peer.mtu_bytes = mtu_bytes;
  }
}

LinkTraits RoceWire::traits(LinkId link) const {
  const Link* found = find(link);
  LinkTraits traits = this->traits().links;
  if (found != nullptr) {
    traits.mtu_bytes = found->peer.mtu_bytes;
    traits.agreed = found->peer.agreed;
    traits.window_packets = window_of(socket_.receive_buffer_bytes(), found->peer.mtu_bytes);
  }
  return traits;
}

void RoceWire::cut_off(LinkId link) {
  const Link* found = find(link);
  if (found == nullptr) {
    return;
  }
  const auto slot = static_cast<std::uint32_t>(found - links_.data());
  if (batch_.packets != 0 && batch_.link == slot) {
    end_batch();
  }
  by_endpoint_.erase(found->peer.endpoint);
  links_[slot].up = false;
  ++links_[slot].generation;
  if (sender_ == slot) {
    rest_ = {};
  }
  sender_known_ = false;
  reserved_bytes_ = 0;
  reserved_payload_ = {};
  ending_.push_back(link);
}

void RoceWire::give_back(PacketSink& sink) {
  for (const LinkId link : ending_) {
    sink.link_down(link);
  }
  ending_.clear();
}

// --- Sending ---

// Whether the batch can take one more datagram of this size.
bool RoceWire::takes(std::uint32_t slot, std::size_t datagram_bytes) const {
  return batch_.packets == 0 ||
         (!batch_.closed && batch_.link == slot && links_[slot].segments &&
          datagram_bytes <= batch_.segment_bytes && batch_.packets < limits::batch_packets &&
          batch_.bytes + datagram_bytes <= out_.size());
}

Bytes RoceWire::reserve(LinkId link, std::size_t size_bytes) {
  reserved_bytes_ = 0;
  reserved_payload_ = {};
  const Link* found = find(link);
  if (found == nullptr || size_bytes > largest_packet(found->peer.mtu_bytes)) [[unlikely]] {
    return {};
  }
  const auto slot = static_cast<std::uint32_t>(found - links_.data());
  const std::size_t datagram_bytes = size_bytes + icrc_bytes;
  if (!takes(slot, datagram_bytes) && !send_batch()) [[unlikely]] {
    return {};
  }
  batch_.link = slot;
  reserved_bytes_ = datagram_bytes;
  return Bytes(out_).subspan(batch_.bytes, size_bytes);
}

Bytes RoceWire::reserve_around(LinkId link, std::size_t header_bytes, ConstBytes payload) {
  const Bytes room = reserve(link, header_bytes + payload.size());
  if (room.empty()) [[unlikely]] {
    return {};
  }
  reserved_payload_ = payload;
  return room.first(header_bytes);
}

void RoceWire::commit() {
  const std::size_t datagram_bytes = std::exchange(reserved_bytes_, 0);
  if (datagram_bytes == 0) [[unlikely]] {
    return;
  }
  const Link& link = links_[batch_.link];
  const Bytes packet = Bytes(out_).subspan(batch_.bytes, datagram_bytes - icrc_bytes);
  const auto identification =
      static_cast<std::uint16_t>(numbers_segments_ ? batch_.packets : std::size_t{0});
  const ConstBytes payload = std::exchange(reserved_payload_, {});
  store(packet.data() + packet.size(),
        payload.empty() ? icrc_of(link, packet, identification)
                        : icrc_.of_copied(link.out, packet, payload, identification));
  if (batch_.packets == 0) {
    batch_.segment_bytes = datagram_bytes;
  }
  batch_.closed = datagram_bytes < batch_.segment_bytes;
  batch_.bytes += datagram_bytes;
  ++batch_.packets;
  if (!has_time_ && batch_.bytes >= limits::eager_bytes) {
    send_batch();
  }
}

std::uint32_t RoceWire::icrc_of(const Link& link, ConstBytes packet,
                                std::uint16_t identification) const {
  const std::uint32_t icrc = icrc_.of(link.out, packet, identification);
  return has_odd_icrc(link.peer.rxe_flush_icrc, packet) ? Icrc::twice(icrc, packet) : icrc;
}

void RoceWire::flush() {
  send_batch();
  has_time_ = false;
}

// True when the batch is empty now. One that the socket has no room for stays.
bool RoceWire::send_batch() {
  if (batch_.packets == 0) {
    return true;
  }
  Link& link = links_[batch_.link];
  if (!link.segments && batch_.packets > 1) {
    return send_singly();
  }
  if (!muted_) [[likely]] {
    ++counters_.calls_sent;
    const UdpSocket::Sent sent =
        socket_.send(link.address, ConstBytes(out_).first(batch_.bytes), batch_.segment_bytes);
    if (sent == UdpSocket::Sent::later) [[unlikely]] {
      return false;
    }
    if (sent == UdpSocket::Sent::not_segments) [[unlikely]] {
      link.segments = false;
      return send_singly();
    }
    sent_here_bytes_ += link.is_here && !has_time_ ? batch_.bytes : 0;
    counters_.packets_sent += sent == UdpSocket::Sent::yes ? batch_.packets : 0;
    counters_.send_failures += sent == UdpSocket::Sent::lost ? batch_.packets : 0;
  }
  end_batch();
  return true;
}

// The rest of a batch that was made for one call, a datagram at a time: each has identification 0
// then. What the socket has no room for is lost.
bool RoceWire::send_singly() {
  const Link& link = links_[batch_.link];
  for (Bytes left = Bytes(out_).first(batch_.bytes); !left.empty();) {
    const std::size_t size = std::min(left.size(), batch_.segment_bytes);
    const Bytes packet = left.first(size - icrc_bytes);
    store(packet.data() + packet.size(), icrc_of(link, packet, 0));
    ++counters_.calls_sent;
    const bool sent = socket_.send(link.address, left.first(size), size) == UdpSocket::Sent::yes;
    ++(sent ? counters_.packets_sent : counters_.send_failures);
    left = left.subspan(size);
  }
  end_batch();
  return true;
}

void RoceWire::end_batch() {
  batch_ = {};
}

// --- Receiving ---

std::size_t RoceWire::poll(PacketSink& sink, std::size_t budget) {
  if (batch_.packets != 0) {
    send_batch();  // what was posted since: it need not wait for what has come
  }
  has_time_ = false;
  std::size_t taken = 0;
  if (!rest_.empty() || receive_some()) {
    const LinkId from = id_of(sender_);
    while (!rest_.empty() && taken < budget) {
      const std::uint16_t guess = numbers_segments_ ? rest_.taken() : std::uint16_t{0};
      const ConstBytes datagram = rest_.take();
      ++taken;
      if (is_good(datagram, guess)) [[likely]] {
        ++counters_.packets_received;
        sink.receive(from, datagram.first(datagram.size() - icrc_bytes));
      }
    }
  }
  if (!ending_.empty()) [[unlikely]] {
    give_back(sink);
  }
  return taken;
}

// One call: more of them would keep waiting whom this one brings.
bool RoceWire::receive_some() {
  if (polls_to_look_ != 0) {
    --polls_to_look_;
    return false;
  }
  UdpSocket::Arrived arrived;
  ++counters_.calls_received;
  if (!socket_.receive(in_, arrived)) {
    found_nothing();
    return false;
  }
  empty_polls_ = 0;
  if (muted_) [[unlikely]] {
    return false;
  }
  if (arrived.bytes.empty() || arrived.segment_bytes == 0) [[unlikely]] {
    ++counters_.malformed;
    return false;
  }
  const Datagrams datagrams(arrived.bytes, arrived.segment_bytes);
  if (!find_sender(arrived.from)) [[unlikely]] {
    counters_.from_strangers += datagrams.count();
    return false;
  }
  rest_ = datagrams;
  return true;
}

void RoceWire::found_nothing() {
  if (std::exchange(sent_here_bytes_, 0) >= limits::let_go_bytes) {
    let_go();
  }
  if (by_endpoint_.empty()) {
    polls_to_look_ = limits::polls_per_unlinked_look - 1;
  } else if (empty_polls_ < limits::polls_until_idle) {
    ++empty_polls_;
  } else {
    polls_to_look_ = limits::polls_per_idle_look - 1;
  }
}

// What was sent last is still in this core's innermost cache, changed, and another core waits
// longer for it there than anywhere else. There is nothing to do but to wait for its answer:
// meanwhile what is sent next is made room for, which drives it out.
void RoceWire::let_go() const {
  for (std::size_t at = 0; at < out_.size(); at += cache_line_bytes) {
    (void)*static_cast<const volatile std::byte*>(&out_[at]);
  }
}

bool RoceWire::find_sender(const IpEndpoint& from) {
  if (sender_known_ && from == sender_endpoint_) [[likely]] {
    return true;
  }
  sender_known_ = false;
  auto found = by_endpoint_.find(from);
  if (found == by_endpoint_.end()) {
    found = by_endpoint_.find({from.address, limits::udp_port});
  }
  if (found == by_endpoint_.end()) {
    return false;
  }
  sender_ = found->second;
  sender_endpoint_ = from;
  sender_known_ = true;
  Link& link = links_[sender_];
  if (link.in_port != from.port) {
    link.in.path = icrc_.path(from, local());
    link.in_port = from.port;
  }
  return true;
}

bool RoceWire::is_good(ConstBytes datagram, std::uint16_t guess) {
  if (loss_ppm_ != 0 && loss_.chance(loss_ppm_, million)) [[unlikely]] {
    ++counters_.lost_on_purpose;
    return false;
  }
  const Link& link = links_[sender_];
  const Verdict verdict =
      judge_datagram(icrc_, largest_packet(link.peer.mtu_bytes), link.in, datagram, guess);
  if (verdict == Verdict::packet) [[likely]] {
    return true;
  }
  ++(verdict == Verdict::malformed ? counters_.malformed : counters_.bad_icrc);
  return false;
}

}  // namespace remora::fabric::nic::roce
