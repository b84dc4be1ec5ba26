#include "lab/memory/platform.h"

#include <array>
#include <utility>

namespace remora {
namespace {

template <typename T, std::size_t count>
using Names = std::array<std::pair<std::string_view, T>, count>;

constexpr Names<Domain, 3> domain_names = {
    {{"dmp", Domain::dmp}, {"mhp", Domain::mhp}, {"wsp", Domain::wsp}}};
constexpr Names<bool, 2> switch_names = {{{"on", true}, {"off", false}}};
constexpr Names<FlushMeaning, 2> flush_names = {
    {{"platform", FlushMeaning::platform}, {"pcie", FlushMeaning::pcie}}};
constexpr Names<bool, 2> order_names = {{{"ascending", true}, {"any", false}}};
constexpr Names<Granularity, 3> media_names = {
    {{"byte", Granularity::byte}, {"line", Granularity::cache_line}, {"page", Granularity::page}}};

template <typename T, std::size_t count>
std::string_view name_of(const Names<T, count>& names, T value) {
  for (const auto& [name, meaning] : names) {
    if (meaning == value) {
      return name;
    }
  }
  return "unknown";
}

template <typename T, std::size_t count>
Result<T> value_of(const Names<T, count>& names, std::string_view text) {
  std::string known;
  for (const auto& [name, meaning] : names) {
    if (name == text) {
      return meaning;
    }
    known += known.empty() ? "" : ", ";
    known += name;
  }
  return Status(Code::invalid_argument,
                "'" + std::string(text) + "' is unknown; choose one of " + known);
}

template <typename T>
Status assign(T& to, Result<T> value) {
  if (value.ok()) {
    to = value.value();
  }
  return value.status();
}

Status parse_setting(std::string_view text, Platform& platform) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return assign(platform.domain, parse_domain(text));
  }
  const std::string_view name = text.substr(0, equals);
  const std::string_view value = text.substr(equals + 1);
  if (name == "ddio") {
    return assign(platform.ddio, parse_switch(value));
  }
  if (name == "flush") {
    return assign(platform.flush, parse_flush_meaning(value));
  }
  if (name == "order") {
    return assign(platform.ascending, value_of(order_names, value));
  }
  if (name == "media") {
    return assign(platform.granularity, value_of(media_names, value));
  }
  return Status(Code::invalid_argument,
                "'" + std::string(name) + "' is unknown; choose one of ddio, flush, order, media");
}

}  // namespace

Platform in_force(Platform platform) {
  if (platform.granularity == Granularity::page) {
    platform.domain = Domain::dmp;
    platform.ddio = true;
    platform.flush = FlushMeaning::pcie;
  }
  return platform;
}

std::string_view to_string(Domain domain) {
  return name_of(domain_names, domain);
}

std::string_view to_string(FlushMeaning flush) {
  return name_of(flush_names, flush);
}

std::string to_string(const Platform& platform) {
  std::string text(to_string(platform.domain));
  text += ",ddio=";
  text += name_of(switch_names, platform.ddio);
  text += ",flush=";
  text += to_string(platform.flush);
  if (!platform.ascending) {
    text += ",order=any";
  }
  if (platform.granularity != Granularity::cache_line) {
    text += ",media=";
    text += name_of(media_names, platform.granularity);
  }
  return text;
}

Result<Domain> parse_domain(std::string_view text) {
  return value_of(domain_names, text);
}

Result<bool> parse_switch(std::string_view text) {
  return value_of(switch_names, text);
}

Result<FlushMeaning> parse_flush_meaning(std::string_view text) {
  return value_of(flush_names, text);
}

Result<Platform> parse_platform(std::string_view text) {
  Platform platform;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    REMORA_TRY(parse_setting(text.substr(0, comma), platform));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return platform;
}

std::vector<Platform> all_platforms() {
  std::vector<Platform> all;
  for (const auto& [domain_name, domain] : domain_names) {
    for (const auto& [switch_name, ddio] : switch_names) {
      for (const auto& [flush_name, flush] : flush_names) {
        all.push_back(Platform{.domain = domain, .ddio = ddio, .flush = flush});
      }
    }
  }
  return all;
}

}  // namespace remora
