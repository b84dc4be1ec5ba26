#include "runtime/poller.h"

#include <algorithm>

#include "base/check.h"

namespace remora {

Poller::~Poller() {
  if (set_ != nullptr) {
    set_->remove(*this);
  }
}

void PollerSet::add(Poller& poller) {
  REMORA_CHECK(poller.set_ == nullptr, "the poller is in a loop already");
  poller.set_ = this;
  pollers_.push_back(&poller);
  ++count_;
  ++version_;
}

void PollerSet::remove(Poller& poller) {
  REMORA_CHECK(poller.set_ == this, "the poller is not in this loop");
  poller.set_ = nullptr;
  --count_;
  ++version_;
  const auto found = std::find(pollers_.begin(), pollers_.end(), &poller);
  if (polling_) {
    *found = nullptr;
  } else {
    pollers_.erase(found);
  }
}

void PollerSet::clear() {
  REMORA_CHECK(!polling_, "the pollers of a loop cannot be dropped while they are asked");
  for (Poller* poller : pollers_) {
    poller->set_ = nullptr;
  }
  pollers_.clear();
  count_ = 0;
  ++version_;
}

bool PollerSet::wants_spin() const {
  bool some_want = count_ == 0;
  for (const Poller* poller : pollers_) {
    if (poller != nullptr) {
      if (poller->wants_sleep()) {
        return false;
      }
      some_want |= poller->wants_spin();
    }
  }
  return some_want;
}

bool PollerSet::poll_all() {
  const std::size_t version_before = version_;
  const std::size_t present = pollers_.size();
  bool worked = false;
  polling_ = true;
  for (std::size_t i = 0; i < present; ++i) {
    if (pollers_[i] != nullptr) {
      worked |= pollers_[i]->poll();
    }
  }
  polling_ = false;
  if (version_ != version_before) {
    std::erase(pollers_, nullptr);
  }
  return worked;
}

}  // namespace remora
