// The rules about systems, which read several files at once: what a descriptor (base/descriptor.h)
// names is there, and what can be planted is named by one.
#pragma once

#include <vector>

#include "tests/tidy/source.h"

namespace remora::tidy {

// Complains of a Fault, declared in a header of src/, that no list in a header of its folder or of
// a folder below holds: nobody could plant it.
std::vector<Finding> check_faults_are_listed(const std::vector<Source>& tree);

// Complains of a path from the root, in a string of src/ or lab/, at which the tree has nothing: a
// system would no longer answer for the persist calls that were there.
std::vector<Finding> check_listed_sources(const std::vector<Source>& tree);

}  // namespace remora::tidy
