#include "fabric/nic/wire/sim/profile.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <span>

#include "base/check.h"
#include "fabric/nic/wire/sim/profile_fields.h"

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace remora::fabric::nic::sim {

namespace {

Status bad(std::string_view file, std::size_t line, std::string_view key, std::string_view why) {
  return Status(Code::invalid_argument, fmt::format("{}:{}: {}: {}", file, line, key, why));
}

Result<toml::table> parse_text(std::string_view text, std::string_view file) {
  toml::parse_result parsed = toml::parse(text, file);
  if (!parsed) {
    return bad(file, parsed.error().source().begin.line, "syntax", parsed.error().description());
  }
  return std::move(parsed).table();
}

Result<std::string> text_of(std::string_view name_or_path) {
  const bool is_path =
      name_or_path.find('/') != name_or_path.npos || name_or_path.ends_with(".toml");
  if (!is_path) {
    std::string known;
    for (const ProfileText& profile : built_in_profiles()) {
      if (profile.name == name_or_path) {
        return std::string(profile.text);
      }
      known += fmt::format("{}{}", known.empty() ? "" : ", ", profile.name);
    }
    return Status(
        Code::not_found,
        fmt::format("no profile is called {}; there are {}, or give a path", name_or_path, known));
  }
  errno = 0;
  std::ifstream in{std::string(name_or_path)};
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in.is_open() || in.bad()) {
    return os_failure(fmt::format("cannot read the profile {}", name_or_path), errno);
  }
  return text;
}

Status check_kind(const toml::table& root, std::string_view file, std::string_view kind) {
  const toml::node* node = root.get("kind");
  if (node == nullptr) {
    return bad(file, 1, "kind", fmt::format("is missing; this should say \"{}\"", kind));
  }
  const std::optional<std::string_view> found = node->value<std::string_view>();
  if (!found || *found != kind) {
    return bad(file, node->source().begin.line, "kind", fmt::format("is not \"{}\"", kind));
  }
  return {};
}

Result<ProfileNumber> read_number(const toml::table& root, std::string_view file,
                                  const FieldBounds& field) {
  const toml::node* node = root.get(field.key);
  if (node == nullptr) {
    return bad(file, 1, field.key, "is missing");
  }
  const std::size_t line = node->source().begin.line;
  const toml::table* table = node->as_table();
  if (table == nullptr) {
    return bad(file, line, field.key, "must be a table with value and source");
  }
  for (const auto& [key, inner] : *table) {
    if (key != "value" && key != "source") {
      return bad(file, inner.source().begin.line, fmt::format("{}.{}", field.key, key.str()),
                 "is unknown; a number has value and source");
    }
  }
  const toml::node* value = table->get("value");
  if (value == nullptr || !value->is_integer()) {
    return bad(file, value == nullptr ? line : value->source().begin.line,
               fmt::format("{}.value", field.key), "must be a whole number");
  }
  const std::int64_t number = value->as_integer()->get();
  if (number < 0 || static_cast<std::uint64_t>(number) < field.low ||
      static_cast<std::uint64_t>(number) > field.high) {
    return bad(file, value->source().begin.line, fmt::format("{}.value", field.key),
               fmt::format("{} is not between {} and {}", number, field.low, field.high));
  }
  const toml::node* source = table->get("source");
  if (source == nullptr || !source->is_string() || source->as_string()->get().empty()) {
    return bad(file, source == nullptr ? line : source->source().begin.line,
               fmt::format("{}.source", field.key), "must say where the number comes from");
  }
  return ProfileNumber{std::string(field.key), static_cast<std::uint64_t>(number),
                       source->as_string()->get()};
}

Status check_no_other_keys(const toml::table& root, std::string_view file,
                           std::span<const FieldBounds> fields) {
  for (const auto& [key, node] : root) {
    bool known = key == "kind";
    for (const FieldBounds& field : fields) {
      known = known || key == field.key;
    }
    if (!known) {
      return bad(file, node.source().begin.line, key.str(), "is unknown");
    }
  }
  return {};
}

// The numbers of a file of this kind, in the order of `fields`.
Result<std::vector<ProfileNumber>> read_numbers(std::string_view text, std::string_view file,
                                                std::string_view kind,
                                                std::span<const FieldBounds> fields) {
  Result<toml::table> root = parse_text(text, file);
  REMORA_TRY(root.status());
  REMORA_TRY(check_kind(*root, file, kind));
  REMORA_TRY(check_no_other_keys(*root, file, fields));
  std::vector<ProfileNumber> numbers;
  for (const FieldBounds& field : fields) {
    Result<ProfileNumber> number = read_number(*root, file, field);
    REMORA_TRY(number.status());
    numbers.push_back(*std::move(number));
  }
  return numbers;
}

template <typename Part>
Result<Part> parse_part(std::string_view text, std::string_view file) {
  const Fields<Part> fields = fields_of<Part>();
  Result<std::vector<ProfileNumber>> numbers = read_numbers(text, file, fields.kind, fields.bounds);
  REMORA_TRY(numbers.status());
  Part part;
  for (std::size_t i = 0; i < numbers->size(); ++i) {
    part.*fields.members[i] = (*numbers)[i].value;
  }
  return part;
}

template <typename Part>
Result<Part> load_part(std::string_view name_or_path) {
  Result<std::string> text = text_of(name_or_path);
  REMORA_TRY(text.status());
  return parse_part<Part>(*text, name_or_path);
}

// Whether the key is one of this part's.
template <typename Part>
Result<bool> set_in(Part& part, std::string_view key, std::uint64_t value, std::string& known) {
  const Fields<Part> fields = fields_of<Part>();
  for (std::size_t i = 0; i < fields.bounds.size(); ++i) {
    const FieldBounds& field = fields.bounds[i];
    const std::string name = fmt::format("{}.{}", fields.kind, field.key);
    known += (known.empty() ? "" : ", ") + name;
    if (name != key) {
      continue;
    }
    if (value < field.low || value > field.high) {
      return Status(Code::invalid_argument, fmt::format("{} is {}, and not between {} and {}", name,
                                                        value, field.low, field.high));
    }
    part.*fields.members[i] = value;
    return true;
  }
  return false;
}

template <typename Part>
Result<ProfileListing> list_part(std::string_view text, std::string_view file) {
  const Fields<Part> fields = fields_of<Part>();
  Result<std::vector<ProfileNumber>> numbers = read_numbers(text, file, fields.kind, fields.bounds);
  REMORA_TRY(numbers.status());
  return ProfileListing{std::string(fields.kind), *std::move(numbers)};
}

}  // namespace

Result<NicProfile> parse_nic_profile(std::string_view text, std::string_view file) {
  return parse_part<NicProfile>(text, file);
}
Result<MemoryProfile> parse_memory_profile(std::string_view text, std::string_view file) {
  return parse_part<MemoryProfile>(text, file);
}
Result<BlockProfile> parse_block_profile(std::string_view text, std::string_view file) {
  return parse_part<BlockProfile>(text, file);
}
Result<CpuProfile> parse_cpu_profile(std::string_view text, std::string_view file) {
  return parse_part<CpuProfile>(text, file);
}

Result<NicProfile> load_nic_profile(std::string_view name_or_path) {
  return load_part<NicProfile>(name_or_path);
}
Result<MemoryProfile> load_memory_profile(std::string_view name_or_path) {
  return load_part<MemoryProfile>(name_or_path);
}
Result<BlockProfile> load_block_profile(std::string_view name_or_path) {
  return load_part<BlockProfile>(name_or_path);
}
Result<CpuProfile> load_cpu_profile(std::string_view name_or_path) {
  return load_part<CpuProfile>(name_or_path);
}

Result<Profile> load_profile(const ProfileNames& names) {
  Result<NicProfile> nic = load_nic_profile(names.nic);
  REMORA_TRY(nic.status());
  Result<MemoryProfile> memory = load_memory_profile(names.memory);
  REMORA_TRY(memory.status());
  Result<BlockProfile> block = load_block_profile(names.block);
  REMORA_TRY(block.status());
  Result<CpuProfile> cpu = load_cpu_profile(names.cpu);
  REMORA_TRY(cpu.status());
  return Profile{*nic, *memory, *block, *cpu};
}

Status set_number(Profile& profile, std::string_view key, std::uint64_t value) {
  std::string known;
  for (const Result<bool>& found :
       {set_in(profile.nic, key, value, known), set_in(profile.memory, key, value, known),
        set_in(profile.cpu, key, value, known)}) {
    REMORA_TRY(found.status());
    if (*found) {
      return {};
    }
  }
  return Status(Code::invalid_argument,
                fmt::format("no profile has the number {}; there are {}", key, known));
}

std::pair<std::uint64_t, std::uint64_t> bounds_of(std::string_view kind, std::string_view key) {
  for (const std::vector<FieldBounds>& bounds :
       {kind == "nic"      ? fields_of<NicProfile>().bounds
        : kind == "memory" ? fields_of<MemoryProfile>().bounds
        : kind == "block"  ? fields_of<BlockProfile>().bounds
                           : fields_of<CpuProfile>().bounds}) {
    for (const FieldBounds& field : bounds) {
      if (field.key == key) {
        return {field.low, field.high};
      }
    }
  }
  REMORA_CHECK(false, "no profile has such a number");
  return {};
}

Result<ProfileListing> list_profile(std::string_view name_or_path) {
  Result<std::string> text = text_of(name_or_path);
  REMORA_TRY(text.status());
  Result<toml::table> root = parse_text(*text, name_or_path);
  REMORA_TRY(root.status());
  const std::string kind = (*root)["kind"].value_or(std::string());
  if (kind == "nic") {
    return list_part<NicProfile>(*text, name_or_path);
  }
  if (kind == "memory") {
    return list_part<MemoryProfile>(*text, name_or_path);
  }
  if (kind == "block") {
    return list_part<BlockProfile>(*text, name_or_path);
  }
  if (kind == "cpu") {
    return list_part<CpuProfile>(*text, name_or_path);
  }
  return bad(name_or_path, 1, "kind", "must be nic, memory, block or cpu");
}

}  // namespace remora::fabric::nic::sim
