// Parameters: what one run is to be given, by name: engine, workload, clients, sizes. Data of the
// figure files, so a paper may have names of its own.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>

#include "base/result.h"

namespace remora::figures {

using ParameterValue = std::variant<bool, std::int64_t, double, std::string>;

std::string to_text(const ParameterValue& value);

class Parameters {
 public:
  void set(const std::string& name, ParameterValue value) { values_[name] = std::move(value); }
  // Those of `others` win.
  void merge(const Parameters& others);

  bool has(const std::string& name) const { return values_.contains(name); }
  // Fail with not_found when there is none of the name, with invalid_argument when its type
  // differs.
  Result<std::string> text(const std::string& name) const;
  Result<std::int64_t> integer(const std::string& name) const;
  Result<double> number(const std::string& name) const;  // an integer will do
  Result<bool> flag(const std::string& name) const;

  const std::map<std::string, ParameterValue>& values() const { return values_; }
  bool operator==(const Parameters&) const = default;

 private:
  std::map<std::string, ParameterValue> values_;
};

// "clients=8 engine=efactory ...", ascending by name.
std::string to_text(const Parameters& parameters);

}  // namespace remora::figures
