// Ways: eFactory with one thing as its paper has it, and the paper's design with one thing as ours
// has it, so that a figure can say what each difference costs and gives
// (docs/engines/efactory.md has the table of differences).
//
// They are engines for modelled runs alone, and no list of engines has them: most break the promise
// that the difference is there for.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "kv/store.h"

namespace remora::store_bench {

// By their names: "ours" and "published" first.
const std::vector<const kv::Engine*>& ways();
Result<const kv::Engine*> find_way(std::string_view name);

}  // namespace remora::store_bench
