// Extended attributes of a file, as they lie in one node: read, changed in DRAM, written again.
#pragma once

#include <map>
#include <string>

#include "file/format.h"
#include "file/outcome.h"

namespace remora::file {

using ExtendedAttributes = std::map<std::string, std::string, std::less<>>;

// EIO when the bytes are not attributes.
Outcome<ExtendedAttributes> parse_attributes(ConstBytes content);
std::string serialize(const ExtendedAttributes& attributes);

}  // namespace remora::file
