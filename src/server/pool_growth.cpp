#include "server/pool_growth.h"

#include "runtime/worker.h"

namespace remora::server {

PoolGrowth::~PoolGrowth() {
  flows_.abandon();
}

Status PoolGrowth::begin(std::uint64_t size_bytes) {
  if (to_bytes_ != 0) {
    return Status(Code::in_use, "the pool is growing already; wait until that has ended");
  }
  if (!store_.grows()) {
    return Status(Code::unsupported,
                  "the pool of this engine's store grows while nobody serves it: stop the server "
                  "('remora stop'), grow the pool, and start the server again");
  }
  if (file_.file().is_device()) {
    return Status(Code::invalid_argument,
                  file_.file().path() + " is a device DAX, all of which its pool has");
  }
  REMORA_TRY(store_.changeable());
  REMORA_TRY(file_.region().failure());
  REMORA_TRY_RESULT(grown, file_.pool().layout().grown_to(size_bytes));
  to_bytes_ = grown->size_bytes();
  last_ = {};
  flows_.keep(run());
  return Status();
}

Task<void> PoolGrowth::run() {
  last_ = co_await grow();
  if (last_.ok() && grown_) {
    grown_(to_bytes_);
  }
  to_bytes_ = 0;
}

// A file that was longer than its pool is mapped as far as it goes already.
Task<Status> PoolGrowth::grow() {
  REMORA_CO_TRY(co_await extend_file());
  if (file_.region().size() < to_bytes_) {
    REMORA_CO_TRY(file_.region().extend(to_bytes_));
  }
  co_return co_await store_.grow(to_bytes_);
}

// The disk gives the blocks, and says so for good, while the loop goes on.
Task<Status> PoolGrowth::extend_file() {
  Extension extension{file_.file(), to_bytes_};
  Worker aside(runtime_);
  co_await aside.run(extension);
  co_return extension.status;
}

}  // namespace remora::server
