// What the clients of a run do: the mix of operations and which keys they touch. The six core
// workloads of YCSB (Cooper et al., SoCC 2010) by the names that people type, and mixes of one's
// own.
//
// Any thread; plain values.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "lab/workload/zipfian.h"

namespace remora::workload {

enum class Kind : std::uint8_t { read, update, insert, scan, read_modify_write, del };

inline constexpr std::array all_kinds = {
    Kind::read, Kind::update, Kind::insert, Kind::scan, Kind::read_modify_write, Kind::del};
inline constexpr std::size_t kind_count = all_kinds.size();

// "read", "update", "insert", "scan", "read-modify-write", "delete".
std::string_view to_string(Kind kind);
// The same, and "rmw". An unknown word is an invalid_argument that lists the known ones.
Result<Kind> parse_kind(std::string_view text);

// Whether it stores a value.
constexpr bool writes_value(Kind kind) {
  return kind == Kind::update || kind == Kind::insert || kind == Kind::read_modify_write;
}

enum class Choice : std::uint8_t {
  zipfian,  // popular keys lie anywhere; over the keys that there are, not over YCSB's 10^10
  uniform,
  latest,  // zipfian by age: the newest insert is the most popular
};

// Which of the keys an operation touches. theta is for all but uniform.
struct Distribution {
  Choice choice = Choice::zipfian;
  double theta = default_theta;

  bool operator==(const Distribution&) const = default;
};

// "zipfian", "uniform", "latest"; "zipfian:0.9" and "latest:0.9" give theta.
Result<Distribution> parse_distribution(std::string_view text);
std::string to_string(const Distribution& distribution);

struct Workload {
  std::string name;
  std::array<double, kind_count> weights = {};  // by Kind; relative to their sum
  Distribution distribution;
  std::uint32_t scan_low = 1;  // a scan asks for this many records to scan_high, uniformly
  std::uint32_t scan_high = 100;

  double weight(Kind kind) const { return weights[static_cast<std::size_t>(kind)]; }
  double& weight(Kind kind) { return weights[static_cast<std::size_t>(kind)]; }
};

// "a" .. "f", "ycsb-a", "workloada", "update-only", in upper or lower case; or a mix such as
// "read:80,update:15,delete:5", which is zipfian unless told otherwise. Anything else is an
// invalid_argument that says what there is.
Result<Workload> parse_workload(std::string_view text);

struct Description {
  std::string_view name;
  std::string_view text;  // what it does, in some words
};

// The workloads that have a name, in the order in which to list them.
std::span<const Description> known_workloads();

// The same for a person: one line each, "  a            50% read, ...\n", and one for mixes.
std::string list_workloads();

}  // namespace remora::workload
