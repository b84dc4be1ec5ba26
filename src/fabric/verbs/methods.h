// How a verbs device does what not every device can do: FLUSH and ATOMIC WRITE. Chosen once, when
// the device is opened, from what libibverbs' headers had when this was built, what the device says
// that it has, and what the user asked for; and told to everybody who asks for the capabilities.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fabric/device.h"
#include "pmem/region.h"

namespace remora::fabric::verbs {

enum class FlushMethod : std::uint8_t {
  native,            // the FLUSH of the standard
  read_after_write,  // a READ of the last byte: it pushes earlier WRITEs ahead of itself
};
std::string_view to_string(FlushMethod method);

enum class AtomicWriteMethod : std::uint8_t {
  native,         // the ATOMIC WRITE of the standard
  aligned_write,  // a WRITE of one aligned word
};

// What is there.
struct MethodFacts {
  bool built_with_flush = false;         // libibverbs' headers had it
  bool built_with_atomic_write = false;  // likewise
  bool device_flushes = false;           // to visibility and to persistence
  bool device_writes_atomically = false;
  bool by_hand = false;  // libibverbs has no FLUSH, but the device's queue is known (rxe_ring.h)
};
// From the 64 capability bits of the device.
MethodFacts facts_of(std::uint64_t device_capabilities);

struct Methods {
  FlushMethod flush = FlushMethod::read_after_write;
  AtomicWriteMethod atomic_write = AtomicWriteMethod::aligned_write;
};
// Native where it is there, unless the other was asked for; by hand only if native was. Fails with
// unsupported when native FLUSH was asked for and is not there; the message says what is missing.
Result<Methods> choose_methods(const MethodFacts& facts, std::optional<FlushMethod> asked);

// The same for people, with the reason.
std::vector<Capability> capabilities_of(const Methods& methods, const MethodFacts& facts);

// Of each DurableVerb, and, of those that are none, why.
std::array<Support, durable_verbs.size()> durable_of(const Methods& methods);
std::vector<Capability> durable_capabilities(const Methods& methods);

// Why a FLUSH by this method cannot make bytes of such a region persistent, or null.
const char* why_not_persistent(const Strategy& strategy, FlushMethod method);

}  // namespace remora::fabric::verbs
