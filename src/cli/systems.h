// The systems that Remora has, as people read them: `remora systems`, and `remora crash --engine`
// without a name.
#pragma once

#include <optional>

#include "base/descriptor.h"

namespace remora::cli {

// One line for each, of this kind alone where one is given.
void print_systems(std::optional<SystemKind> kind);

}  // namespace remora::cli
