// Fields: one JSON object of the claim files, read field by field. What is missing, of the wrong
// type or unknown is thrown as BadField, whose text names the object and the field; the parsers
// turn it into a Status. Unknown fields count as mistakes: a misspelt name must not be a silent
// default.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace remora::figures {

struct BadField : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Fields {
 public:
  // `where` names the object in messages. Keeps a reference to `object`.
  Fields(const nlohmann::json& object, std::string where);

  const std::string& where() const { return where_; }
  bool has(const std::string& name) const;

  std::string text(const std::string& name);
  std::string text_or(const std::string& name, std::string otherwise);
  // Absent and null are the same.
  std::optional<std::string> maybe_text(const std::string& name);
  std::optional<double> maybe_number(const std::string& name);
  // Absent is empty.
  std::vector<std::string> texts(const std::string& name);
  const nlohmann::json& array(const std::string& name);
  const nlohmann::json& object(const std::string& name);

  [[noreturn]] void complain(const std::string& what) const;
  // Complains of fields that nobody asked for.
  void finish() const;

 private:
  const nlohmann::json& get(const std::string& name);
  const nlohmann::json* find(const std::string& name);

  const nlohmann::json& object_;
  std::string where_;
  std::set<std::string> known_;
};

// Runs `parse` on the parsed `text` and returns what it makes; BadField and JSON errors become an
// invalid_argument that begins with `name`.
template <typename Parse>
auto parse_json(std::string_view name, std::string_view text, Parse parse)
    -> Result<decltype(parse(nlohmann::json()))> {
  try {
    return parse(nlohmann::json::parse(text));
  } catch (const nlohmann::json::exception& error) {
    return Status(Code::invalid_argument, std::string(name) + ": " + error.what());
  } catch (const BadField& error) {
    return Status(Code::invalid_argument, std::string(name) + ": " + error.what());
  }
}

}  // namespace remora::figures
