// Text within HTML and XML.
#pragma once

#include <string>
#include <string_view>

namespace remora::figures {

// With &, <, > and quotes written as entities, and without the control characters that XML forbids.
std::string escaped(std::string_view text);

// For a data: address.
std::string base64(std::string_view bytes);

}  // namespace remora::figures
