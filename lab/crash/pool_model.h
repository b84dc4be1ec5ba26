// PoolModel: what a pool must hold, kept beside it in plain memory. A state is six roots, each the
// head of a chain of objects; every transaction leads from one state to the next. After a cut the
// pool must hold one of the states between the last acknowledged transaction and the last begun.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "pmem/pool.h"

namespace remora {

// An object of the workload: a word that leads to the next, its number, its size, and then bytes
// that follow from its number.
struct ModelObject {
  std::uint64_t number = 0;
  std::uint64_t size_bytes = 0;
  Offset offset = 0;
  bool sealed = false;

  // Two objects are the same when number and size are: places may differ.
  bool operator==(const ModelObject& other) const {
    return number == other.number && size_bytes == other.size_bytes;
  }
};

inline constexpr std::size_t model_roots = 6;
inline constexpr std::uint64_t model_object_head_bytes = 3 * word_bytes;

using Chain = std::vector<ModelObject>;
using PoolState = std::array<Chain, model_roots>;

std::string model_root_name(std::size_t index);

// Fills the space of an object.
void fill_object(Bytes space, const ModelObject& object, Offset next);

// Reads what the pool holds. Fails when an object is torn, foreign or not live, or when the pool
// has objects that no root leads to.
Result<PoolState> read_state(Pool& pool);

std::string describe(const PoolState& state);

}  // namespace remora
