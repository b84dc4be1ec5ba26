// The order of the layers, as ARCHITECTURE.md has it, and the rule that includes go downward.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/tidy/source.h"

namespace remora::tidy {

// Bottom up, each with its '/' at the end: "base/", "fabric/nic/". Folders of src/ lack the "src/".
using Layers = std::vector<std::string>;

// The layers in the fenced block ```layers of a document; none if it has no such block. A layer
// "a/{b,c}/" is two folders that include nothing of each other.
Layers parse_layers(std::string_view document);

// The place in the order of the layer that holds this path: the longest that it starts with.
std::optional<std::size_t> layer_of(std::string_view path, const Layers& layers);

// Complains of includes that go upward, that cannot be placed, and of files in unlisted folders.
std::vector<Finding> check_includes(const Source& source, const Layers& layers);

}  // namespace remora::tidy
