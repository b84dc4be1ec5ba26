// PoolGrowth: a pool in a file becomes larger while its store is served. The file first, which may
// take long and is done by a thread of its own; then the region over it, where it lies; then the
// store makes it the pool's and its clients' (StoreServer::grow). A kill or a power cut on the way
// leaves the old size or the new one; the file may be longer than the pool.
//
// One thread, the loop's, but for that. What it is handed outlives it.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "base/result.h"
#include "kv/store.h"
#include "pmem/pool_file.h"
#include "runtime/flows.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace remora::server {

class PoolGrowth {
 public:
  PoolGrowth(Runtime& runtime, PoolFile& file, kv::StoreServer& store)
      : runtime_(runtime), file_(file), store_(store) {}
  ~PoolGrowth();

  // Begins one, or says why it cannot be: invalid_argument for a size that the pool cannot have,
  // in_use while one is under way, `unsupported` where the engine or the medium cannot.
  Status begin(std::uint64_t size_bytes);
  // What is under way; 0: nothing.
  std::uint64_t under_way_to() const { return to_bytes_; }
  // Calls this after each that has succeeded, with the size.
  void on_growth(std::function<void(std::uint64_t)> grown) { grown_ = std::move(grown); }
  // Of the last one that has ended.
  const Status& last() const { return last_; }

 private:
  // For the thread.
  struct Extension {
    const FileHandle& file;
    std::uint64_t to_bytes = 0;
    Status status = {};
    void operator()() { status = file.extend(to_bytes); }
  };

  Task<void> run();
  Task<Status> grow();
  Task<Status> extend_file();

  Runtime& runtime_;
  PoolFile& file_;
  kv::StoreServer& store_;
  std::uint64_t to_bytes_ = 0;
  Status last_;
  std::function<void(std::uint64_t)> grown_;
  Flows flows_;
};

}  // namespace remora::server
