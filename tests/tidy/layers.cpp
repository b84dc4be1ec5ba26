#include "tests/tidy/layers.h"

#include <algorithm>

namespace remora::tidy {

namespace {

std::string_view without_src(std::string_view path) {
  return path.starts_with("src/") ? path.substr(4) : path;
}

// The path between quotes in an #include; empty if the line is none. Angle brackets are for the
// world outside, which has no layers.
std::string_view included_in(std::string_view line) {
  const std::size_t open = line.find('"');
  const std::size_t close = line.find('"', open + 1);
  if (open == line.npos || close == line.npos) {
    return {};
  }
  return line.substr(open + 1, close - open - 1);
}

bool is_include(std::string_view code_line) {
  code_line.remove_prefix(std::min(code_line.find_first_not_of(' '), code_line.size()));
  return code_line.starts_with('#') && find_token(code_line, "include") != code_line.npos;
}

std::string folder_of(std::string_view path) {
  return std::string(path.substr(0, path.rfind('/') + 1));
}

// The folder of this layer that the path lies in, as the path has it: of "a/{b,c}/" it is "a/b/" or
// "a/c/". Empty for a path of another layer.
std::string_view room_of(std::string_view path, std::string_view layer) {
  const std::size_t open = layer.find('{');
  if (open == layer.npos) {
    return path.starts_with(layer) ? path.substr(0, layer.size()) : "";
  }
  if (!path.starts_with(layer.substr(0, open))) {
    return {};
  }
  const std::size_t slash = path.find('/', open);
  const std::size_t close = layer.find('}', open);
  if (slash == path.npos || close == layer.npos) {
    return {};
  }
  const std::string name = ',' + std::string(path.substr(open, slash - open)) + ',';
  const std::string names = ',' + std::string(layer.substr(open + 1, close - open - 1)) + ',';
  return names.find(name) == names.npos ? "" : path.substr(0, slash + 1);
}

}  // namespace

Layers parse_layers(std::string_view document) {
  Layers layers;
  bool inside = false;
  for (std::string_view line : lines_of(document)) {
    if (inside && line.starts_with("```")) {
      break;
    }
    if (inside) {
      const std::size_t slash = line.find("/ ");
      if (slash != line.npos) {
        layers.emplace_back(line.substr(0, slash + 1));
      }
    }
    inside = inside || line == "```layers";
  }
  return layers;
}

std::optional<std::size_t> layer_of(std::string_view path, const Layers& layers) {
  std::optional<std::size_t> found;
  std::size_t longest = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::size_t size = room_of(path, layers[i]).size();
    if (size > longest) {
      found = i;
      longest = size;
    }
  }
  return found;
}

std::vector<Finding> check_includes(const Source& source, const Layers& layers) {
  const std::optional<std::size_t> own = layer_of(without_src(source.path), layers);
  if (!own) {
    return {{source.path, 1,
             folder_of(source.path) + " is no layer: give it a line in ARCHITECTURE.md"}};
  }
  std::vector<Finding> findings;
  const std::vector<std::string_view> text = lines_of(source.text);
  const std::vector<std::string_view> code = lines_of(source.code);
  for (std::size_t i = 0; i < code.size(); ++i) {
    const std::string_view path = is_include(code[i]) ? included_in(text[i]) : "";
    if (path.empty()) {
      continue;
    }
    const std::optional<std::size_t> other = layer_of(path, layers);
    if (!other) {
      findings.push_back({source.path, i + 1,
                          "\"" + std::string(path) +
                              "\" is in no layer: include by the path from src/ or from the root"});
    } else if (*other > *own) {
      findings.push_back({source.path, i + 1,
                          layers[*own] + " includes upward from " + layers[*other] +
                              ": move the code, or pass in what it needs (see ARCHITECTURE.md)"});
    } else if (*other == *own &&
               room_of(path, layers[*own]) != room_of(without_src(source.path), layers[*own])) {
      findings.push_back({source.path, i + 1,
                          "\"" + std::string(path) + "\" is in another folder of " + layers[*own] +
                              ": put what they share below them (see ARCHITECTURE.md)"});
    }
  }
  return findings;
}

}  // namespace remora::tidy
