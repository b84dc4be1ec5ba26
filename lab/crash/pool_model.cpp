#include "lab/crash/pool_model.h"

#include <cstring>

namespace remora {
namespace {

constexpr std::size_t longest_walked_chain = 64;

// The bytes behind the head of object `number`: every word follows from the number and its place.
std::uint64_t pattern(std::uint64_t number, std::uint64_t at) {
  return mix(number * 0x10001 + at);
}

Status broken(const std::string& what) {
  return Status(Code::damaged, what);
}

Result<ModelObject> read_object(Pool& pool, Offset offset) {
  if (!pool.is_live(offset)) {
    return broken("a link leads to " + std::to_string(offset) + ", where no live object is");
  }
  const Bytes space = pool.object(offset);
  ModelObject object;
  object.offset = offset;
  object.number = load<std::uint64_t>(space.data() + word_bytes);
  object.size_bytes = load<std::uint64_t>(space.data() + 2 * word_bytes);
  if (object.size_bytes < model_object_head_bytes || object.size_bytes > space.size()) {
    return broken("the object at " + std::to_string(offset) + " has a torn head");
  }
  for (std::uint64_t at = model_object_head_bytes; at + word_bytes <= object.size_bytes;
       at += word_bytes) {
    if (load<std::uint64_t>(space.data() + at) != pattern(object.number, at)) {
      return broken("object " + std::to_string(object.number) + " at " + std::to_string(offset) +
                    " is torn at byte " + std::to_string(at));
    }
  }
  return object;
}

Result<Chain> read_chain(Pool& pool, Offset head) {
  Chain chain;
  for (Offset offset = head; offset != 0; offset = pool.load(offset)) {
    if (chain.size() == longest_walked_chain) {
      return broken("a chain of objects has no end");
    }
    REMORA_TRY_RESULT(object, read_object(pool, offset));
    chain.push_back(*object);
  }
  return chain;
}

}  // namespace

std::string model_root_name(std::size_t index) {
  return "a root whose name takes more than a word, " + std::to_string(index);
}

void fill_object(Bytes space, const ModelObject& object, Offset next) {
  store(space.data(), next);
  store(space.data() + word_bytes, object.number);
  store(space.data() + 2 * word_bytes, object.size_bytes);
  for (std::uint64_t at = model_object_head_bytes; at + word_bytes <= object.size_bytes;
       at += word_bytes) {
    store(space.data() + at, pattern(object.number, at));
  }
}

Result<PoolState> read_state(Pool& pool) {
  PoolState state;
  std::size_t reached = 0;
  for (std::size_t i = 0; i < state.size(); ++i) {
    Result<Offset> root = pool.root(model_root_name(i));
    if (!root.ok()) {
      continue;
    }
    REMORA_TRY_RESULT(chain, read_chain(pool, *root));
    reached += chain->size();
    state[i] = std::move(chain).value();
  }
  if (pool.root_names().size() > state.size()) {
    return broken("the pool has a root that nobody made");
  }
  if (pool.usage().object_count != reached) {
    return broken("the pool has " + std::to_string(pool.usage().object_count) +
                  " live objects and its roots lead to " + std::to_string(reached) + ": a leak");
  }
  return state;
}

std::string describe(const PoolState& state) {
  std::string text;
  for (const Chain& chain : state) {
    text += text.empty() ? "[" : " [";
    for (const ModelObject& object : chain) {
      text += (text.back() == '[' ? "" : " ") + std::to_string(object.number);
    }
    text += "]";
  }
  return text;
}

}  // namespace remora
