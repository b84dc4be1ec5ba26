// A write of several keys at once. It happens wholly or not at all: no get sees a part of it, and
// no power cut keeps one.
//
// All conditions are judged at the moment at which all writes take effect. A key stands once among
// the writes. The keys, values and lists are the caller's until the call returns or the flow ends.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/bytes.h"

namespace remora::kv {

// That the key has this version, as a get told it; 0: that there is no such key.
struct Condition {
  ConstBytes key;
  std::uint64_t version = 0;
};

// A put, or a deletion where there is no value.
struct Write {
  ConstBytes key;
  std::optional<ConstBytes> value = {};
  // Milliseconds since 1970; 0: never. A key whose time has come is not there, for any client.
  std::uint64_t expires = 0;
};

struct MultiWrite {
  std::span<const Condition> conditions = {};
  std::span<const Write> writes = {};
};

}  // namespace remora::kv
