// LocalWire: how processes of one host reach each other: by rings in shared memory alone, or with
// the short way around them (fabric/nic/wire/mapped). Chosen once; a process with one of them
// serves and reaches processes with either.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "fabric/nic/wire/mapped/mapped_wire.h"
#include "fabric/nic/wire/ring/ring_wire.h"
#include "fabric/queue_pair.h"

namespace remora::server {

// How long queue pairs here wait for a peer that stands still. Between processes of one host
// nothing is lost and death is noticed at once; but a busy machine lets anybody stand still for a
// while.
inline constexpr fabric::ConnectOptions patient_connect = {.timeout_ns = 1'000'000'000};

enum class LocalFabric : std::uint8_t { ring, mapped };

std::string_view to_string(LocalFabric fabric);

class LocalWire {
 public:
  // As RingWire::create.
  static Result<LocalWire> create(Runtime& runtime, fabric::nic::LinkOwner* owner,
                                  LocalFabric fabric,
                                  const fabric::nic::RingWireOptions& options = {});

  fabric::nic::RingWire& wire() { return mapped_ ? mapped_->wire() : *ring_; }
  // Peers that reach memory of this process by themselves.
  std::size_t mapped_peers() const { return mapped_ ? mapped_->granted_peers() : 0; }

 private:
  LocalWire() = default;

  std::unique_ptr<fabric::nic::RingWire> ring_;  // one of the two
  std::unique_ptr<fabric::nic::MappedWire> mapped_;
};

}  // namespace remora::server
