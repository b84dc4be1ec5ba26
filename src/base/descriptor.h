// Descriptor: what a system says of itself. A system is a thing with a name that the laboratory can
// hold to a promise: a store engine, or a part that stores stand on. It hands out one Descriptor,
// and everything that lists systems reads that: `remora crash`, `matrix`, `bench`, `figures`, the
// metrics, `explain`, and the names that a shell completes.
//
// All views are of constants in the system's own source file.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/faults.h"

namespace remora {

enum class SystemKind : std::uint8_t {
  part,   // what systems stand on, such as the pool
  store,  // a kv::Engine
};

// A number that a server counts, as metrics show it.
struct CounterText {
  std::string_view counter;  // its name within Remora: "expired_keys"
  std::string_view
      metric;             // outside, without the "_total" of those that grow: "remora_expired_keys"
  std::string_view help;  // a sentence without its full stop; empty for a further label
  bool grows = false;     // it never shrinks while the server lives
  double unit = 1;        // of the metric, in the counter's
  std::string_view label = {};  // "op=\"put\""
};

struct Descriptor {
  std::string_view name;  // as --engine has it
  SystemKind kind = SystemKind::store;
  std::string_view about;  // one line
  // What the design claims by its promise and does not hold, for people: a clause that can end a
  // sentence. Empty where everything is held.
  std::string_view caveat = {};
  // The bytes of its pools that carry no checksum by design, and what damage there does, for
  // people.
  std::string_view unsummed = {};
  std::string_view paper = {};                // that describes it: "Liu et al., arXiv:1906.08173"
  std::string_view section = {};              // of the paper that measures it: "eFactory, 5.3.3"
  bool is_rival = false;                      // a paper's, which is there to be measured against
  std::span<const Fault* const> faults = {};  // that can be planted, and are noticed
  // The folders (which end in '/') and files of the repository whose persist calls its runs answer
  // for: each is missed by them when it is muted. tidy_test holds that all of them exist.
  std::span<const std::string_view> sources = {};
  std::span<const CounterText> counters = {};  // that its server may count
};

std::string_view to_string(SystemKind kind);

// Whether the file belongs to tests, which bring about what a program never does: nobody answers
// for its persist calls.
bool is_scaffolding(std::string_view file);

// Whether a persist call in this file, named by its path from wherever the compiler stood, is one
// that the system answers for.
bool answers_for(const Descriptor& system, std::string_view file);

}  // namespace remora
