// Expirer: deletes keys whose time has come, soon after that, and some at a time.
//
// One flow on the loop.
#pragma once

#include <cstdint>
#include <optional>

#include "kv/efactory/catalogue.h"
#include "kv/efactory/local_store.h"
#include "runtime/event.h"
#include "runtime/task.h"

namespace remora::kv::efactory {

class Expirer {
 public:
  // Deletions become persistent as the local store's do.
  Expirer(Catalogue& catalogue, EfactoryLocal& local)
      : catalogue_(catalogue), background_(catalogue.background()), local_(local) {}

  // The flow; it does not end.
  Task<void> forget();
  // A key with a time was put.
  void wake() {
    if (to_expire_ && !to_expire_->is_set()) {
      to_expire_->set();
    }
  }

  // Keys that it deleted.
  std::uint64_t expired() const { return expired_; }

 private:
  std::uint64_t pause_ms(std::uint64_t next_ms) const;

  Catalogue& catalogue_;
  const Host background_;
  EfactoryLocal& local_;
  std::uint64_t expired_ = 0;
  std::optional<Event> to_expire_;
};

}  // namespace remora::kv::efactory
