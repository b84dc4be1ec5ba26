// The systems that `remora crash` runs, as people read them: `remora crash --engine` without a
// name.
#pragma once

namespace remora::cli {

// One line for each that power cuts hold to a promise.
void print_subjects();

}  // namespace remora::cli
