#include "fabric/nic/wire/mapped/mapped_initiator.h"

#include <sys/types.h>

#include <algorithm>
#include <limits>

#include "fabric/nic/wire/mapped/mapped_lane.h"
#include "fabric/nic/wire/mapped/process_fence.h"

namespace remora::fabric::nic::mapped {

MappedInitiator::~MappedInitiator() {
  for (const auto& [number, lane] : lanes_) {
    lane->forget_short_ways();
    lane->link_ = nullptr;
  }
}

MappedInitiator::Link* MappedInitiator::find(LinkId link) {
  const auto found = std::find_if(links_.begin(), links_.end(),
                                  [&](const Link& known) { return known.id == link; });
  return found == links_.end() ? nullptr : &*found;
}

std::uint64_t MappedInitiator::executed_by_windows(const Link& link) {
  return link.epoch ? link.epoch->word(0).load(std::memory_order_relaxed) / 2 - link.entries : 0;
}

std::uint64_t MappedInitiator::executed_by_windows() const {
  std::uint64_t executed = executed_on_past_links_;
  for (const Link& link : links_) {
    executed += executed_by_windows(link);
  }
  return executed;
}

void MappedInitiator::forget_short_ways() {
  for (const auto& [number, lane] : lanes_) {
    lane->forget_short_ways();
  }
}

std::unique_ptr<Lane> MappedInitiator::open_lane(Connection& connection) {
  auto lane = std::make_unique<MappedLane>(*this, connection);
  lane->link_ = find(connection.link);
  lane->known_.reserve(limits::keys);
  lanes_[connection.number] = lane.get();
  return lane;
}

void MappedInitiator::link_up(LinkId link) {
  links_.push_back(Link{link, {}, {}});
}

void MappedInitiator::link_down(LinkId id) {
  Link* link = find(id);
  if (link == nullptr) {
    return;
  }
  for (const auto& [number, lane] : lanes_) {
    if (lane->link_ == link) {
      lane->link_ = nullptr;
      lane->forget_short_ways();
      lane->latest_ = nullptr;
      lane->known_.clear();
    }
  }
  executed_on_past_links_ += executed_by_windows(*link);
  links_.remove_if([&](const Link& known) { return known.id == id; });
}

bool MappedInitiator::say_ask(MappedLane& lane, RemoteKey key) {
  Link& link = *lane.link_;
  if (!takes_part_in_fences()) {
    return false;
  }
  if (!link.epoch) {
    Result<SharedPages> epoch = SharedPages::create(SharedPages::epoch_bytes);
    if (!epoch.ok()) {
      return false;
    }
    link.epoch.emplace(std::move(*epoch));
  }
  const MappedMessage message = {.kind = static_cast<std::uint16_t>(MappedKind::ask),
                                 .key = key,
                                 .initiator_qp = lane.connection_.number,
                                 .target_qp = lane.connection_.peer};
  const int passed = link.epoch_sent ? -1 : link.epoch->descriptor();
  const bool said = say_(link.id, message, passed).ok();
  link.epoch_sent |= said;
  return said;
}

void MappedInitiator::ask(QpNumber own, RemoteKey key) {
  const auto lane = lanes_.find(own);
  if (lane != lanes_.end() && lane->second->link_ != nullptr) {
    (void)lane->second->find_or_ask(key);
  }
}

bool MappedInitiator::is_mapped(QpNumber own, RemoteKey key) const {
  const auto lane = lanes_.find(own);
  if (lane == lanes_.end() || lane->second->link_ == nullptr || !lane->second->link_->gate) {
    return false;
  }
  const auto& known = lane->second->known_;
  return std::any_of(known.begin(), known.end(), [&](const Known& entry) {
    return entry.key == key && entry.state == Known::State::granted;
  });
}

void MappedInitiator::answer(LinkId id, const MappedMessage& message, Descriptor passed) {
  Link* link = find(id);
  if (link == nullptr) {
    return;
  }
  const auto kind = static_cast<MappedKind>(message.kind);
  if (kind == MappedKind::gate) {
    if (!link->gate && passed.open()) {
      if (Result<SharedPages> gate = SharedPages::adopt(std::move(passed), SharedPages::gate_bytes);
          gate.ok()) {
        link->gate.emplace(std::move(*gate));
      }
    }
    return;
  }
  if (kind == MappedKind::forget) {
    forget(*link, message.region);
    return;
  }
  const auto lane = lanes_.find(message.initiator_qp);
  if (lane == lanes_.end() || lane->second->link_ != link ||
      lane->second->connection_.peer != message.target_qp) {
    return;  // it went, or was connected anew, in the meantime
  }
  Known* known = lane->second->find(message.key);
  if (known == nullptr || known->state != Known::State::asked) {
    return;
  }
  lane->second->forget_short_ways();
  known->mapping = kind == MappedKind::grant ? map(*link, message, passed) : nullptr;
  known->state = known->mapping ? Known::State::granted : Known::State::denied;
  known->medium = message.medium;
  known->slot = message.slot;
  known->rights = message.rights;
  known->grant = message.grant;
  known->region = message.region;
  known->base = message.base;
}

std::shared_ptr<MappedInitiator::Mapping> MappedInitiator::map(Link& link,
                                                               const MappedMessage& message,
                                                               const Descriptor& file) {
  const bool writable = (message.rights & (remote_write | remote_atomic)) != 0;
  std::weak_ptr<Mapping>& place = link.mappings[message.region];
  if (std::shared_ptr<Mapping> there = place.lock(); there != nullptr &&
                                                     there->pages->writable() == writable &&
                                                     there->bytes.size() == message.length) {
    return there;
  }
  constexpr auto longest = static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());
  if (!file.open() || message.length == 0 || !within(message.offset, message.length, longest)) {
    return nullptr;
  }
  const std::uint64_t begin = round_down(message.offset, std::uint64_t{page_bytes});
  const bool is_committed = static_cast<Granularity>(message.medium) == Granularity::page;
  std::shared_ptr<MappedPages> pages =
      MappedPages::of(file, begin, message.offset + message.length - begin, writable, is_committed);
  if (pages == nullptr) {
    return nullptr;
  }
  const Bytes bytes = pages->bytes().subspan(message.offset - begin, message.length);
  const std::shared_ptr<Mapping> mapping(new Mapping{pages, bytes, nullptr, nullptr});
  if (options_.medium) {
    Result<std::unique_ptr<Region>> own = options_.medium(bytes);
    mapping->own_medium = own.ok() ? std::move(*own) : nullptr;
  }
  mapping->medium = options_.medium ? mapping->own_medium.get() : pages->medium();
  if (mapping->medium == nullptr) {
    return nullptr;
  }
  place = mapping;
  return mapping;
}

void MappedInitiator::forget(Link& link, std::uint64_t region) {
  for (const auto& [number, lane] : lanes_) {
    if (lane->link_ != &link) {
      continue;
    }
    lane->forget_short_ways();
    for (Known& known : lane->known_) {
      if (known.state == Known::State::granted && known.region == region) {
        known.state = Known::State::denied;
        known.mapping.reset();
        known.waited = 0;
        known.patience = limits::asks_again_after;
      }
    }
  }
  link.mappings.erase(region);
}

}  // namespace remora::fabric::nic::mapped
