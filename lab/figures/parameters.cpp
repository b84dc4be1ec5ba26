#include "lab/figures/parameters.h"

#include <fmt/format.h>

namespace remora::figures {
namespace {

template <typename T>
Result<T> get(const Parameters& parameters, const std::string& name, const char* type) {
  const auto found = parameters.values().find(name);
  if (found == parameters.values().end()) {
    return Status(Code::not_found, fmt::format("the run has no parameter '{}'", name));
  }
  if (const T* const value = std::get_if<T>(&found->second)) {
    return *value;
  }
  return Status(Code::invalid_argument, fmt::format("the parameter '{}' is '{}', which is no {}",
                                                    name, to_text(found->second), type));
}

}  // namespace

std::string to_text(const ParameterValue& value) {
  if (const std::string* const text = std::get_if<std::string>(&value)) {
    return *text;
  }
  if (const bool* const flag = std::get_if<bool>(&value)) {
    return *flag ? "true" : "false";
  }
  if (const std::int64_t* const integer = std::get_if<std::int64_t>(&value)) {
    return fmt::format("{}", *integer);
  }
  return fmt::format("{}", std::get<double>(value));
}

void Parameters::merge(const Parameters& others) {
  for (const auto& [name, value] : others.values_) {
    values_[name] = value;
  }
}

Result<std::string> Parameters::text(const std::string& name) const {
  return get<std::string>(*this, name, "text");
}

Result<std::int64_t> Parameters::integer(const std::string& name) const {
  return get<std::int64_t>(*this, name, "whole number");
}

Result<double> Parameters::number(const std::string& name) const {
  if (Result<std::int64_t> integer = this->integer(name); integer.ok()) {
    return static_cast<double>(*integer);
  }
  return get<double>(*this, name, "number");
}

Result<bool> Parameters::flag(const std::string& name) const {
  return get<bool>(*this, name, "flag");
}

std::string to_text(const Parameters& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters.values()) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, to_text(value));
  }
  return text;
}

}  // namespace remora::figures
