// KeyOrder: lets calls of one order key run one after the other, in the order in which they came. A
// key has a queue by its hash: two that share one wait for each other, which harms nobody.
//
// One thread; no allocation after construction.
#pragma once

#include <vector>

#include "runtime/intrusive_list.h"

namespace remora::rpc::calls {

struct KeyedCall : ListHook {
  std::uint64_t key = 0;
};

class KeyOrder {
 public:
  KeyOrder() : queues_(1024) {}

  // Whether it may run now. Else `next` gives it when its turn has come.
  bool add(KeyedCall& call) {
    IntrusiveList<KeyedCall>& queue = queue_of(call.key);
    queue.push_back(call);
    return &queue.front() == &call;
  }
  // The call that ran has ended; the one that may run now, or null.
  KeyedCall* next(KeyedCall& ended) {
    IntrusiveList<KeyedCall>& queue = queue_of(ended.key);
    queue.pop_front();
    return queue.empty() ? nullptr : &queue.front();
  }

 private:
  IntrusiveList<KeyedCall>& queue_of(std::uint64_t key) { return queues_[key % queues_.size()]; }

  std::vector<IntrusiveList<KeyedCall>> queues_;
};

}  // namespace remora::rpc::calls
