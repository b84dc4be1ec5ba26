// The two processes of the benchmark on an RDMA device, of one machine or of two. They tell each
// other by a socket how to be reached; everything else goes through the device.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "fabric/verbs/verbs_device.h"
#include "lab/measured/nic/child_target.h"
#include "lab/measured/nic/side.h"

namespace remora::lab {

struct VerbsBench {
  fabric::verbs::VerbsOptions device;
  std::uint64_t memory_bytes = 0;  // of the target
  std::uint64_t size_bytes = 0;
  std::uint64_t depth = 0;
};

// The initiator's way to the target.
class VerbsPeer {
 public:
  // A child of this process is the target; it ends with its peer or its parent.
  static Result<std::unique_ptr<VerbsPeer>> start_target(const VerbsBench& bench);
  // The target waits there.
  static Result<std::unique_ptr<VerbsPeer>> reach(const std::string& address);
  VerbsPeer(const VerbsPeer&) = delete;
  VerbsPeer& operator=(const VerbsPeer&) = delete;
  // The target ends.
  ~VerbsPeer();

  // This process's side, connected to the target's.
  Result<std::unique_ptr<Side>> introduce(const fabric::verbs::VerbsOptions& device,
                                          std::uint64_t memory_bytes, const VerbsBench& bench);

 private:
  explicit VerbsPeer(int socket) : socket_(socket) {}
  explicit VerbsPeer(std::unique_ptr<ChildTarget> child)
      : child_(std::move(child)), socket_(child_->socket()) {}

  const std::unique_ptr<ChildTarget> child_;  // or null: then the socket is this one's to close
  const int socket_;
};

// Is the target for the first initiator that comes to this address, until it goes.
Status serve_initiator(const fabric::verbs::VerbsOptions& device, const std::string& address,
                       std::uint64_t memory_bytes);

// What people should know of a figure from this device.
std::vector<std::string> remarks_on(const Side& side);

}  // namespace remora::lab
