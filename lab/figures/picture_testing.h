// Checks on pictures as files: is it XML, is it a PNG, and of which size?
#pragma once

#include <cctype>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace remora::figures {

// What is wrong with `xml`: tags that do not nest, a bare & or <, more than one root. Empty if it
// is well-formed as far as that goes.
inline std::string xml_fault(std::string_view xml) {
  std::vector<std::string> open;
  std::size_t roots = 0;
  std::size_t at = 0;
  while (at < xml.size()) {
    if (xml[at] == '&') {
      const std::size_t end = xml.find(';', at);
      if (end == xml.npos || end - at > 8) {
        return "a bare & at " + std::to_string(at);
      }
      at = end;
    } else if (xml[at] == '<') {
      const std::size_t end = xml.find('>', at);
      if (end == xml.npos || xml.find('<', at + 1) < end) {
        return "a tag without end at " + std::to_string(at);
      }
      const std::string_view tag = xml.substr(at + 1, end - at - 1);
      const bool closing = tag.starts_with('/');
      const std::size_t name_begin = closing ? 1 : 0;
      const std::string name(
          tag.substr(name_begin, tag.find_first_of(" \t\n/", name_begin) - name_begin));
      if (closing) {
        if (open.empty() || open.back() != name) {
          return "</" + name + "> closes nothing";
        }
        open.pop_back();
      } else if (!tag.starts_with('?') && !tag.starts_with('!')) {
        roots += open.empty() ? 1U : 0U;
        if (!tag.ends_with('/')) {
          open.push_back(name);
        }
      }
      at = end;
    } else if (open.empty() && std::isspace(static_cast<unsigned char>(xml[at])) == 0) {
      return "text outside the root";
    }
    ++at;
  }
  if (!open.empty()) {
    return "<" + open.back() + "> is not closed";
  }
  return roots == 1 ? "" : std::to_string(roots) + " roots";
}

struct PixelSize {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
};

// The size that a PNG says it has; nothing if it is none, or is cut off.
inline std::optional<PixelSize> png_size(std::string_view png) {
  constexpr std::string_view signature = "\x89PNG\r\n\x1a\n";
  constexpr std::string_view end("\0\0\0\0IEND\xae\x42\x60\x82", 12);
  if (!png.starts_with(signature) || png.substr(12, 4) != "IHDR" || !png.ends_with(end)) {
    return std::nullopt;
  }
  const auto number = [&](std::size_t offset) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      value = value << 8 | static_cast<unsigned char>(png[offset + i]);
    }
    return value;
  };
  return PixelSize{number(16), number(20)};
}

}  // namespace remora::figures
