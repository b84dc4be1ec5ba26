#include "lab/figures/json_fields.h"

#include <fmt/format.h>

namespace remora::figures {

using nlohmann::json;

Fields::Fields(const json& object, std::string where) : object_(object), where_(std::move(where)) {
  if (!object_.is_object()) {
    complain("must be an object");
  }
}

bool Fields::has(const std::string& name) const {
  return object_.contains(name);
}

const json* Fields::find(const std::string& name) {
  known_.insert(name);
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

const json& Fields::get(const std::string& name) {
  const json* const field = find(name);
  if (field == nullptr) {
    complain(fmt::format("needs the field '{}'", name));
  }
  return *field;
}

std::string Fields::text(const std::string& name) {
  const json& field = get(name);
  if (!field.is_string()) {
    complain(fmt::format("'{}' must be a string", name));
  }
  return field.get<std::string>();
}

std::string Fields::text_or(const std::string& name, std::string otherwise) {
  return find(name) == nullptr ? std::move(otherwise) : text(name);
}

std::optional<std::string> Fields::maybe_text(const std::string& name) {
  return find(name) == nullptr ? std::nullopt : std::optional(text(name));
}

std::optional<double> Fields::maybe_number(const std::string& name) {
  const json* const field = find(name);
  if (field == nullptr) {
    return std::nullopt;
  }
  if (!field->is_number()) {
    complain(fmt::format("'{}' must be a number", name));
  }
  return field->get<double>();
}

std::vector<std::string> Fields::texts(const std::string& name) {
  if (find(name) == nullptr) {
    return {};
  }
  std::vector<std::string> texts;
  for (const json& element : array(name)) {
    if (!element.is_string()) {
      complain(fmt::format("'{}' must hold strings alone", name));
    }
    texts.push_back(element.get<std::string>());
  }
  return texts;
}

const json& Fields::array(const std::string& name) {
  const json& field = get(name);
  if (!field.is_array()) {
    complain(fmt::format("'{}' must be an array", name));
  }
  return field;
}

const json& Fields::object(const std::string& name) {
  const json& field = get(name);
  if (!field.is_object()) {
    complain(fmt::format("'{}' must be an object", name));
  }
  return field;
}

void Fields::complain(const std::string& what) const {
  throw BadField(fmt::format("{} {}", where_, what));
}

void Fields::finish() const {
  for (const auto& [name, value] : object_.items()) {
    if (!known_.contains(name)) {
      complain(fmt::format("has an unknown field '{}'; is it misspelt?", name));
    }
  }
}

}  // namespace remora::figures
