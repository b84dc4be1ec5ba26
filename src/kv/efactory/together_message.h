// How a write of several keys travels: conditions first, then writes, one behind the other.
//
//   TogetherHead | (ConditionHead key)* | (WriteHead key value)*
//
// It comes from outside, in one message or in parts that the server puts together; nothing of it is
// believed before its sizes were checked.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "kv/multi_write.h"

namespace remora::kv::efactory {

struct TogetherHead {
  std::uint32_t conditions = 0;
  std::uint32_t writes = 0;
};

struct ConditionHead {
  std::uint64_t version = 0;
  std::uint32_t key_bytes = 0;
  std::uint32_t reserved = 0;
};

struct WriteHead {
  std::uint64_t expires = 0;
  std::uint32_t key_bytes = 0;
  std::uint32_t value_bytes = 0;
  std::uint32_t has_value = 0;  // 0 or 1
  std::uint32_t reserved = 0;
};

std::vector<std::byte> pack(const MultiWrite& what);

// A write whose keys and values lie in what it was read from.
struct UnpackedWrite {
  std::vector<Condition> conditions;
  std::vector<Write> writes;

  MultiWrite view() const { return {conditions, writes}; }
  // Whether several conditions name one key. Each may cost the checksum of a value, so a peer is
  // not let name one again and again.
  bool repeats_a_condition() const;
};

// Nothing unless these bytes are a write and nothing else. Sizes of keys and values are the
// store's affair.
std::optional<UnpackedWrite> unpack_write(ConstBytes bytes);

}  // namespace remora::kv::efactory
