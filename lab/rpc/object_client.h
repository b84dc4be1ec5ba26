// ObjectClient: a client of an RPC design, as the workloads' clients see a store
// (lab/run/client_run.h): a put is a call that writes an object, a get one that reads it.
//
// Which object a key has, the client knows (ObjectIndex), as in the paper's runs. A put ends when
// the call is persistent; what its handler does after that goes on, and is waited for when the slot
// is used again. So a design that is persistent early overlaps its handlers with as many calls as
// there are slots.
//
// One thread, the loop's.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "kv/store.h"
#include "lab/rpc/objects.h"
#include "lab/workload/plan.h"
#include "rpc/designs/design.h"
#include "runtime/semaphore.h"

namespace remora::lab {

// From keys to the numbers of objects. Keys that are inserted when all objects are taken share
// them.
class ObjectIndex {
 public:
  explicit ObjectIndex(const workload::Plan& plan);

  std::uint64_t objects() const { return objects_; }
  std::uint64_t number_of(ConstBytes key) const;
  std::string key_of(std::uint64_t number) const;

 private:
  const workload::KeyTexts keys_;
  const std::uint64_t objects_;
  std::unordered_map<std::string, std::uint64_t> numbers_;
};

// The longest argument and result of a call on objects of this size.
constexpr std::size_t call_bytes_for(std::size_t object_bytes) {
  return object_request_bytes + object_bytes;
}

class ObjectClient final : public kv::StoreClient {
 public:
  ObjectClient(const Host& host, std::unique_ptr<rpc::DesignClient> client,
               std::shared_ptr<const ObjectIndex> index);

  Task<Status> put(ConstBytes key, ConstBytes value, kv::PutOptions options) override;
  Task<Result<std::size_t>> get(ConstBytes key, Bytes value) override;
  Task<Status> del(ConstBytes key) override;
  Task<Result<kv::ScanCursor>> scan(kv::ScanCursor from, std::size_t most_keys,
                                    kv::ScanSink& sink) override;
  Status failure() const override { return failure_; }

  std::uint64_t sent_again() const { return client_->sent_again(); }

 private:
  // A slot that is this flow's, until `give_back`. What its last call had left to do has ended.
  Task<Result<std::uint32_t>> take();
  void give_back(std::uint32_t slot);
  Bytes request(std::uint32_t slot, ConstBytes key, std::size_t more_bytes);
  Status ended(Status status);

  const Host host_;
  std::unique_ptr<rpc::DesignClient> client_;
  const std::shared_ptr<const ObjectIndex> index_;
  Semaphore free_;
  std::vector<std::uint32_t> unused_;  // the first has waited longest
  std::vector<bool> owes_;             // by slot: its result was not awaited
  Status failure_;
};

}  // namespace remora::lab
