#include "cli/nic_pingpong/fuzz/introduction_fuzz.h"

#include "base/check.h"
#include "cli/nic_pingpong/introduction.h"

namespace remora::cli {

// What was understood says the same when it is said again.
int fuzz_introduction(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto address = parse_introduction(text);
  if (!address) {
    return 0;
  }
  constexpr std::uint32_t numbers = 1u << 24;
  REMORA_CHECK(address->number < numbers && address->first_packet < numbers, "24 bits each");
  const std::string said = introduction_text(*address);
  REMORA_CHECK(said.size() + 1 == introduction_bytes, "an introduction has one size");
  const auto again = parse_introduction(said);
  REMORA_CHECK(again && again->number == address->number &&
                   again->first_packet == address->first_packet && again->gid == address->gid,
               "said again it is another");
  return 0;
}

}  // namespace remora::cli

#ifdef REMORA_FUZZER
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return remora::cli::fuzz_introduction(data, size);
}
#endif
