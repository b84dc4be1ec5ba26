// CoreGroup: in virtual time, cores of one machine that share one kind of work, under one CoreId.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace remora {

// How requests find their core.
enum class Spread : std::uint8_t {
  by_client,   // each client has its own for good: a thread for each client, or for so many
  any,         // whichever is free first: threads that poll one queue and run to completion
  dispatched,  // the first takes all, and hands each on to whichever of the others is free first
};

constexpr std::string_view to_string(Spread spread) {
  return spread == Spread::by_client ? "by-client" : spread == Spread::any ? "any" : "dispatched";
}
constexpr std::optional<Spread> parse_spread(std::string_view text) {
  for (const Spread spread : {Spread::by_client, Spread::any, Spread::dispatched}) {
    if (text == to_string(spread)) {
      return spread;
    }
  }
  return std::nullopt;
}

struct CoreGroup {
  std::uint32_t count = 1;
  Spread spread = Spread::by_client;
};

}  // namespace remora
