// For tests that need a log and no network: a host over a region, and objects by their numbers.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "host/host.h"
#include "kv/log/log.h"
#include "pmem/pool.h"
#include "runtime/virtual_loop.h"

namespace remora::kv {

// A machine without a network card.
class NoDevice final : public fabric::Device {
 public:
  const fabric::DeviceAttributes& attributes() const override { return attributes_; }
  fabric::DeviceCounters counters() const override { return {}; }
  std::unique_ptr<fabric::ProtectionDomain> create_domain() override { return nullptr; }
  Result<std::unique_ptr<fabric::CompletionQueue>> create_completion_queue(std::uint32_t) override {
    return Status(Code::unsupported, "this machine has no network card");
  }

 private:
  fabric::DeviceAttributes attributes_;
};

// What a log's host needs around it.
struct LogMachine {
  explicit LogMachine(Region& region) : host(loop, device, &region) {}

  VirtualLoop loop;
  NoDevice device;
  Host host;
};

// The value of an object, by its number: the same bytes every time.
inline std::vector<std::byte> value_of(std::uint64_t number, std::size_t size_bytes) {
  std::vector<std::byte> bytes(size_bytes);
  Random random(number);
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(random.next());
  }
  return bytes;
}

// The object's parts as a client and a server make them.
inline NewObject new_object(ConstBytes key, ConstBytes value, std::uint64_t sequence,
                            Link previous = {}) {
  NewObject object;
  object.key = key;
  object.value_bytes = static_cast<std::uint32_t>(value.size());
  object.sequence = sequence;
  object.checksum =
      object_format::object_checksum(sequence, object_format::client_checksum(key, value));
  object.previous = previous;
  return object;
}

}  // namespace remora::kv
