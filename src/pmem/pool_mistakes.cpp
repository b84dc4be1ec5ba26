// What planted bugs do instead. The persist calls in this file run only when one is planted, so
// they are no sites that a sound pool must pass.
#include "pmem/pool.h"

namespace remora {

void Pool::persist_late(const Transaction& transaction) {
  for (const Transaction::Object& object : transaction.published()) {
    (void)region_.persist(ConstBytes(region_.data() + object.offset, object.content_bytes));
  }
}

void Pool::write_past_log(const WordSet& words) {
  for (const pool_format::Write& write : words.writes()) {
    store(region_.data() + write.place, write.value);
    region_.flush(ConstBytes(region_.data() + write.place, word_bytes));
  }
}

}  // namespace remora
