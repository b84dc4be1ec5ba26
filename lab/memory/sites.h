// SiteTable: every place in the source that asked for persistence, how often it ran, and which of
// them are muted. One table may serve several crash memories, so that the sites of a run, of its
// recovery and of the recovery after that are counted together. Used by one thread.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pmem/region.h"

namespace remora {

// `post`: a FLUSH or ATOMIC WRITE that was posted to a queue pair (fabric/posted_site.h).
enum class SiteKind : std::uint8_t { flush, drain, copy, post };

std::string_view to_string(SiteKind kind);

// One call in the source. A persist() is two sites: its flush and its drain.
struct SiteKey {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  SiteKind kind = SiteKind::flush;

  auto operator<=>(const SiteKey&) const = default;
};

SiteKey site_key(SiteKind kind, const Site& site);

// "file:line:column flush"
std::string to_string(const SiteKey& key);

struct SiteEntry {
  SiteKey key;
  std::string function;     // empty for a site that was muted and has not run
  std::uint64_t calls = 0;  // muted calls count too
  bool muted = false;
};

class SiteTable {
 public:
  // Counts one call. Returns whether the site is muted.
  bool visit(SiteKind kind, const Site& site);

  // Calls from this site have no effect from now on. The site need not have run yet; when it never
  // runs, its count of calls stays 0.
  void mute(const SiteKey& key);
  void unmute_all();

  // How often the site ran; 0 for an unknown one.
  std::uint64_t calls(const SiteKey& key) const;

  // All sites, in the order of their keys.
  std::vector<SiteEntry> list() const;

 private:
  SiteEntry* find(std::uint64_t place, std::string_view file);
  SiteEntry& add(std::uint64_t place, SiteKey key);

  std::vector<SiteEntry> entries_;
  // Line, column and kind, to the entries that share them in different files.
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> by_place_;
};

}  // namespace remora
