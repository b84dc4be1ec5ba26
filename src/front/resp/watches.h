// Watches: the keys that clients watch (WATCH), and how often each was changed by Redis clients
// since the first of them did. A version tells that a key is another one than it was; only this
// tells of one that came and went, so that there is none now as there was none before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace remora::resp {

class Watches {
 public:
  // Whether there is one at all.
  bool any() const { return !keys_.empty(); }

  // One more watches the key, or one less. Keys are as they are stored.
  void watch(std::string_view key) { ++keys_[std::string(key)].watchers; }
  void unwatch(std::string_view key) {
    if (const auto at = keys_.find(key); at != keys_.end() && --at->second.watchers == 0) {
      keys_.erase(at);
    }
  }
  void touch(std::string_view key) {
    if (const auto at = keys_.find(key); at != keys_.end()) {
      ++at->second.changes;
    }
  }
  // Of a key that somebody watches; only grows while somebody does.
  std::uint64_t changes(std::string_view key) const {
    const auto at = keys_.find(key);
    return at == keys_.end() ? 0 : at->second.changes;
  }

 private:
  struct Watched {
    std::uint32_t watchers = 0;
    std::uint64_t changes = 0;
  };
  // Looks texts up without a copy.
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  std::unordered_map<std::string, Watched, Hash, std::equal_to<>> keys_;
};

}  // namespace remora::resp
