#include "fabric/verbs/methods.h"

#include <string>

namespace remora::fabric::verbs {
namespace {

// As the kernel numbers them; headers of libibverbs lack the names for long after.
constexpr std::uint64_t flushes_to_visibility = std::uint64_t{1} << 38;
constexpr std::uint64_t flushes_to_persistence = std::uint64_t{1} << 39;
constexpr std::uint64_t writes_atomically = std::uint64_t{1} << 40;

constexpr bool headers_have_flush =
#ifdef REMORA_VERBS_HAVE_FLUSH
    true;
#else
    false;
#endif
constexpr bool headers_have_atomic_write =
#ifdef REMORA_VERBS_HAVE_ATOMIC_WRITE
    true;
#else
    false;
#endif

const char* why_no_flush(const MethodFacts& facts) {
  return !facts.device_flushes     ? "the device has no FLUSH"
         : !facts.built_with_flush ? "built with a libibverbs that has no FLUSH (it came with 45)"
                                   : "as asked for, though the device has FLUSH";
}

}  // namespace

std::string_view to_string(FlushMethod method) {
  return method == FlushMethod::native ? "native" : "read-after-write";
}

MethodFacts facts_of(std::uint64_t device_capabilities) {
  constexpr std::uint64_t both = flushes_to_visibility | flushes_to_persistence;
  return {.built_with_flush = headers_have_flush,
          .built_with_atomic_write = headers_have_atomic_write,
          .device_flushes = (device_capabilities & both) == both,
          .device_writes_atomically = (device_capabilities & writes_atomically) != 0};
}

Result<Methods> choose_methods(const MethodFacts& facts, std::optional<FlushMethod> asked) {
  const bool by_hand = facts.by_hand && asked == FlushMethod::native;
  const bool can_flush = (facts.built_with_flush || by_hand) && facts.device_flushes;
  if (asked == FlushMethod::native && !can_flush) {
    return Status(Code::unsupported, std::string("no native FLUSH: ") + why_no_flush(facts) +
                                         "; leave the choice to Remora, or ask for "
                                         "read-after-write");
  }
  const bool can_write_atomically = facts.built_with_atomic_write && facts.device_writes_atomically;
  return Methods{.flush = can_flush && asked != FlushMethod::read_after_write
                              ? FlushMethod::native
                              : FlushMethod::read_after_write,
                 .atomic_write = can_write_atomically ? AtomicWriteMethod::native
                                                      : AtomicWriteMethod::aligned_write};
}

std::vector<Capability> capabilities_of(const Methods& methods, const MethodFacts& facts) {
  std::vector<Capability> list;
  if (methods.flush == FlushMethod::native) {
    const std::string how = facts.built_with_flush
                                ? "the device's FLUSH"
                                : "the device's FLUSH, put into rxe's queue by hand: this "
                                  "libibverbs has no call for it (45 has)";
    list.push_back({"flush to visibility", Support::native, how});
    list.push_back({"flush to persistence", Support::native,
                    how + "; it takes persistent memory alone (device DAX)"});
  } else {
    const std::string why = std::string(" (") + why_no_flush(facts) + ")";
    list.push_back({"flush to visibility", Support::emulated,
                    "a READ of the last byte pushes earlier WRITEs ahead of it" + why});
    list.push_back({"flush to persistence", Support::emulated,
                    "the same READ: persistent with DDIO off or caches that survive (eADR), else "
                    "visible alone; it needs the right to read, and no right to flush" +
                        why});
  }
  if (methods.atomic_write == AtomicWriteMethod::native) {
    list.push_back({"atomic write", Support::native, "the device's ATOMIC WRITE"});
  } else {
    list.push_back(
        {"atomic write", Support::emulated,
         std::string("an inline WRITE of one aligned word, which PCIe places whole (") +
             (facts.device_writes_atomically ? "built with a libibverbs that has no ATOMIC WRITE"
                                             : "the device has no ATOMIC WRITE") +
             ")"});
  }
  return list;
}

std::array<Support, durable_verbs.size()> durable_of(const Methods& methods) {
  std::array<Support, durable_verbs.size()> durable = {};
  durable[static_cast<std::size_t>(DurableVerb::wflush)] =
      methods.flush == FlushMethod::native ? Support::native : Support::emulated;
  return durable;
}

std::vector<Capability> durable_capabilities(const Methods& methods) {
  const auto supports = durable_of(methods);
  std::vector<Capability> list;
  for (const DurableVerb verb : durable_verbs) {
    const Support support = supports[static_cast<std::size_t>(verb)];
    list.push_back({std::string(to_string(verb)), support,
                    support == Support::none ? "no RDMA device has it; it is refused"
                                             : "as flush to persistence"});
  }
  return list;
}

const char* why_not_persistent(const Strategy& strategy, FlushMethod method) {
  if (strategy.granularity == Granularity::page) {
    return "no NIC commits pages of a file to its disk: a FLUSH over a verbs device needs a pool "
           "on "
           "DAX or in memory, or a protocol whose server makes bytes persistent";
  }
  if (method == FlushMethod::native && !strategy.survives_power_cut) {
    return "the device's FLUSH takes persistent memory alone, and this is volatile: leave out the "
           "right flush_persistence, or open the device with FLUSH by read-after-write";
  }
  return nullptr;
}

}  // namespace remora::fabric::verbs
