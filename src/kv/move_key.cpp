#include "kv/move_key.h"

namespace remora::kv {

Result<Moved> move_key(LocalStore& store, ConstBytes from, ConstBytes to, KeyMove& move) {
  if (move.version == 0) {
    const std::optional<LocalStore::Found> found = store.get(from);
    if (!found) {
      return Status(Code::not_found, "there is no such key");
    }
    if (found->damaged) {
      return Status(Code::damaged, "the value of this key is damaged");
    }
    REMORA_TRY_RESULT(mark, store.put(to, std::span(&found->value, 1), found->expires));
    move = {found->version, *mark};
  }
  if (!store.made_persistent(move.mark)) {
    return Moved::waits;
  }
  REMORA_TRY(end_move(store, from, move));
  return Moved::done;
}

Status end_move(LocalStore& store, ConstBytes from, const KeyMove& move) {
  const std::optional<LocalStore::Found> now = store.get(from);
  return now && now->version == move.version ? store.del(from).status() : Status();
}

}  // namespace remora::kv
