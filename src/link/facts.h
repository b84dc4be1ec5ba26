// Facts on their way: lines of text, as a session message has them.
#pragma once

#include <remora/facts.h>

#include <string>
#include <string_view>

namespace remora::link {

// A line for each: name, space, value.
std::string to_text(const Facts& facts);
// Lines without a name are left out.
Facts parse_facts(std::string_view text);

}  // namespace remora::link
