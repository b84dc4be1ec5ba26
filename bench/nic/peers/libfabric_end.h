// One end of a libfabric connection on the shm provider: an endpoint that needs no connection, with
// its completion queue, its peers' addresses, and memory that is registered.
//
// One thread. Every failure is a Status that names the call.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>

#include <array>
#include <cstdint>
#include <memory>

#include "base/bytes.h"
#include "base/result.h"

namespace remora::bench {

struct FabricCloser {
  template <typename T>
  void operator()(T* object) const {
    fi_close(&object->fid);
  }
};
template <typename T>
using FabricObject = std::unique_ptr<T, FabricCloser>;

// What the initiator has to know of the target.
struct LibfabricAddress {
  std::array<char, 256> name{};
  std::uint64_t memory = 0;  // as the provider wants it: an address, or 0 for offsets
  std::uint64_t key = 0;
};

class LibfabricEnd {
 public:
  // Registers the memory, which outlives the end, for both sides of an operation. By the provider
  // of this name, at this address of the machine if it has one.
  static Result<std::unique_ptr<LibfabricEnd>> open(Bytes memory, const char* provider,
                                                    const char* address);

  Result<LibfabricAddress> address() const;
  // Lets operations go to that peer.
  Result<fi_addr_t> connect(const LibfabricAddress& peer);

  fid_ep& endpoint() { return *endpoint_; }
  fid_cq& completions() { return *completions_; }
  void* local_descriptor() { return fi_mr_desc(registration_.get()); }

 private:
  LibfabricEnd() = default;
  Status open_objects(Bytes memory);

  struct InfoFreer {
    void operator()(fi_info* info) const { fi_freeinfo(info); }
  };
  std::unique_ptr<fi_info, InfoFreer> info_;
  FabricObject<fid_fabric> fabric_;
  FabricObject<fid_domain> domain_;
  FabricObject<fid_av> addresses_;
  FabricObject<fid_cq> completions_;
  FabricObject<fid_mr> registration_;
  FabricObject<fid_ep> endpoint_;
  Bytes memory_;
};

// "fi_write: Resource temporarily unavailable". The number is negative, as libfabric returns it.
Status libfabric_failure(const char* call, std::int64_t error);

}  // namespace remora::bench
