// The files of docs/claims/, built into the program, so that it needs no path when it runs.
#pragma once

#include <string_view>
#include <vector>

namespace remora::figures {

struct EmbeddedText {
  std::string_view path;  // within docs/claims: "claims.json", "figures/efactory.json"
  std::string_view text;
};

// Ascending by path.
const std::vector<EmbeddedText>& embedded_claims();

}  // namespace remora::figures
