// Guests: the places of clients that are counted, by user or machine: how many there are of all,
// and of each. The store's own are no guests: their name is empty.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

namespace remora::resp {

class Guests {
 public:
  Guests(std::uint32_t most, std::uint32_t most_of_one) : most_(most), most_of_one_(most_of_one) {}

  bool has_place_for(const std::string& guest) const {
    const auto same = places_.find(guest);
    return guest.empty() ||
           (all_ < most_ && (same == places_.end() ? 0 : same->second) < most_of_one_);
  }
  // One more connection of his, or one less.
  void came(const std::string& guest) {
    if (!guest.empty()) {
      ++places_[guest];
      ++all_;
    }
  }
  void note_left(const std::string& guest) {
    if (const auto same = places_.find(guest); same != places_.end()) {
      --all_;
      if (--same->second == 0) {
        places_.erase(same);
      }
    }
  }

 private:
  const std::uint32_t most_;
  const std::uint32_t most_of_one_;
  std::unordered_map<std::string, std::uint32_t> places_;  // by guest, his connections
  std::uint32_t all_ = 0;
};

}  // namespace remora::resp
