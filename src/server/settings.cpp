#include "server/settings.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <span>
#include <sstream>
#include <utility>

#include "base/check.h"
#include "base/size_text.h"
#include "base/socket_address.h"
#include "fabric/nic/wire/ring/ring_limits.h"
#include "fabric/verbs/verbs_device.h"
#include "kv/store.h"

namespace remora::server {
namespace {

constexpr std::size_t settings_bytes_max = 1 << 20;
constexpr std::uint64_t client_bytes_min = 64 << 10;
constexpr std::uint32_t resp_clients_max = 1'000'000;

Status wrong_setting(std::string_view key, std::string_view what) {
  return Status(Code::invalid_argument, fmt::format("{}: {}", key, what));
}

Result<std::uint32_t> read_count(std::string_view text, std::uint32_t least, std::uint32_t most) {
  std::uint32_t value = 0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stopped != text.data() + text.size() || value < least ||
      value > most) {
    return Status(
        Code::invalid_argument,
        fmt::format("'{}' is not valid; choose a whole number from {} to {}", text, least, most));
  }
  return value;
}

// "24h", "30m", "90s", or "off", which is 0.
Result<std::uint64_t> read_span_ns(std::string_view text) {
  constexpr std::uint64_t second_ns = 1'000'000'000;
  constexpr std::uint64_t most_s = std::uint64_t{10'000} * 3600;
  if (text == "off") {
    return std::uint64_t{0};
  }
  const std::string_view letter = text.empty() ? text : text.substr(text.size() - 1);
  const std::uint64_t unit_s = letter == "h" ? 3600 : letter == "m" ? 60 : letter == "s" ? 1 : 0;
  std::uint32_t count = 0;
  const std::string_view digits = text.substr(0, text.empty() ? 0 : text.size() - 1);
  const auto [stopped, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (error != std::errc() || stopped != digits.data() + digits.size() || count == 0 ||
      unit_s == 0 || count * unit_s > most_s) {
    return Status(
        Code::invalid_argument,
        fmt::format("'{}' is not valid; choose a time such as 24h, 30m or 90s, or off", text));
  }
  return count * unit_s * second_ns;
}

template <typename T>
Status assign(T& to, Result<T> value, std::string_view key) {
  if (!value.ok()) {
    return wrong_setting(key, value.status().message());
  }
  to = std::move(value).value();
  return {};
}

// The list of keys decides what is known, so that whoever reads it reads all.
bool is_among(std::span<const std::string_view> keys, std::string_view key) {
  return std::ranges::find(keys, key) != keys.end();
}

// Where to listen; empty for nowhere.
Status assign_address(std::string& to, std::string_view value, std::string_view key) {
  if (!value.empty()) {
    if (const Status form = SocketAddress::check_form(value); !form.ok()) {
      return wrong_setting(key, form.message());
    }
  }
  to = value;
  return {};
}

// A number, or the name of a user that this machine knows.
Result<uid_t> user_of(const std::string& name) {
  uid_t uid = 0;
  const auto [stopped, error] = std::from_chars(name.data(), name.data() + name.size(), uid);
  if (error == std::errc() && stopped == name.data() + name.size()) {
    return uid;
  }
  if (const passwd* user = ::getpwnam(name.c_str()); user != nullptr) {
    return user->pw_uid;
  }
  return Status(Code::invalid_argument, "no such user on this machine");
}

// Of this process, as chgrp takes it.
std::string own_group() {
  const gid_t number = ::getegid();
  const group* known = ::getgrgid(number);
  return known != nullptr ? known->gr_name : std::to_string(number);
}

std::string text_of(const std::variant<std::string, std::int64_t, bool>& value) {
  if (const std::string* text = std::get_if<std::string>(&value)) {
    return *text;
  }
  if (const bool* truth = std::get_if<bool>(&value)) {
    return *truth ? "true" : "false";
  }
  return std::to_string(std::get<std::int64_t>(value));
}

Status change_access(link::AccessRules& rules, std::string_view key, const std::string& value) {
  if (!is_among(access_keys, key)) {
    return wrong_setting(key, fmt::format("unknown; [access] has {}, and the parts [access.users] "
                                          "and [access.tokens]",
                                          fmt::join(access_keys, ", ")));
  }
  if (key == "others") {
    return value == "none" ? (rules.others = link::Role::none, Status())
                           : assign(rules.others, link::parse_role(value), key);
  }
  return assign(rules.clients_per_user, read_count(value, 1, fabric::nic::ring::limits::links_max),
                key);
}

Status add_user(link::AccessRules& rules, const std::string& name, const std::string& role_text) {
  const Result<uid_t> uid = user_of(name);
  if (!uid.ok()) {
    return wrong_setting(name, uid.status().message());
  }
  link::UserRule rule{.uid = *uid};
  REMORA_TRY(assign(rule.role, link::parse_role(role_text), name));
  rules.users.push_back(rule);
  return {};
}

Status add_token(link::AccessRules& rules, const std::string& token, const std::string& role_text) {
  const bool printable = token.find_first_not_of(
                             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 "
                             "!#$%&()*+,-./:;<=>?@[]^_{|}~") == std::string::npos;
  if (token.size() < link::token_bytes_min || token.size() > link::token_bytes_max || !printable) {
    return wrong_setting("a token", fmt::format("has {} to {} printable letters, such as those of "
                                                "`head -c 24 /dev/urandom | base64`",
                                                link::token_bytes_min, link::token_bytes_max));
  }
  link::TokenRule rule{.token = token};
  REMORA_TRY(assign(rule.role, link::parse_role(role_text), "a token's role"));
  rules.tokens.push_back(std::move(rule));
  return {};
}

Status apply_entry(Settings& settings, const TomlEntry& entry) {
  const std::string value = text_of(entry.value);
  if (entry.section.empty()) {
    return change_setting(settings, entry.key, value);
  }
  if (entry.section == "access") {
    return change_access(settings.access, entry.key, value);
  }
  if (entry.section == "access.users") {
    return add_user(settings.access, entry.key, value);
  }
  if (entry.section == "access.tokens") {
    return add_token(settings.access, entry.key, value);
  }
  return wrong_setting("[" + entry.section + "]",
                       "no such section; there are [access], [access.users] and [access.tokens]");
}

}  // namespace

Status change_setting(Settings& settings, std::string_view key, std::string_view value) {
  if (!is_among(setting_keys, key)) {
    return wrong_setting(
        key, fmt::format("unknown; there are {} and {}",
                         fmt::join(std::span(setting_keys).first(setting_keys.size() - 1), ", "),
                         setting_keys.back()));
  }
  if (key == "pool") {
    settings.pool = value;
  } else if (key == "size") {
    return assign(settings.pool_bytes, parse_size(value), key);
  } else if (key == "media") {
    return assign(settings.media, parse_media(value), key);
  } else if (key == "engine") {
    const Result<const kv::Engine*> engine = kv::find_engine(value);
    if (!engine.ok()) {
      return wrong_setting(key, engine.status().message());
    }
    settings.engine = value;
  } else if (key == "socket") {
    settings.socket = value;
  } else if (key == "resp") {
    return value == "auto" ? (settings.resp = value, Status())
                           : assign_address(settings.resp, value, key);
  } else if (key == "resp_durability") {
    if (value != "asynchronous" && value != "persistent") {
      return wrong_setting(key, "choose asynchronous or persistent");
    }
    settings.resp_durability =
        value == "persistent" ? resp::Durability::persistent : resp::Durability::asynchronous;
  } else if (key == "resp_clients") {
    return assign(settings.resp_clients, read_count(value, 1, resp_clients_max), key);
  } else if (key == "metrics") {
    return assign_address(settings.metrics, value, key);
  } else if (key == "http") {
    return value == "auto" ? (settings.http = value, Status())
                           : assign_address(settings.http, value, key);
  } else if (key == "on_failure") {
    if (value != "exit" && value != "stay") {
      return wrong_setting(key, "choose exit or stay");
    }
    settings.on_failure = value == "stay" ? OnFailure::stay : OnFailure::exit;
  } else if (key == "listen") {
    return assign_address(settings.listen, value, key);
  } else if (key == "fabric") {
    if (value != "auto" && value != "roce" && !fabric::verbs::parse_wire(std::string(value))) {
      return wrong_setting(key, "choose auto, roce, verbs or verbs:DEVICE");
    }
    settings.fabric = value;
  } else if (key == "tls_cert") {
    settings.tls_cert = value;
  } else if (key == "tls_key") {
    settings.tls_key = value;
  } else if (key == "insecure") {
    if (value != "true" && value != "false") {
      return wrong_setting(key, "choose true or false");
    }
    settings.insecure = value == "true";
  } else if (key == "clients") {
    return assign(settings.most_clients, read_count(value, 1, fabric::nic::ring::limits::links_max),
                  key);
  } else if (key == "client_operations") {
    return assign(settings.client_operations, read_count(value, 1, 1'000'000), key);
  } else if (key == "client_bytes") {
    std::uint64_t bytes = 0;
    REMORA_TRY(assign(bytes, parse_size(value), key));
    if (bytes < client_bytes_min) {
      return wrong_setting(key, "choose at least " + format_size(client_bytes_min));
    }
    settings.client_bytes = bytes;
  } else if (key == "scrub") {
    return assign(settings.scrub_ns, read_span_ns(value), key);
  } else if (key == "verify_reads") {
    return assign(settings.verify_reads, kv::parse_verify_reads(value), key);
  } else {
    REMORA_CHECK(key == "threads", "a key of the list that nothing is done with");
    return assign(settings.threads, read_count(value, 1, 2), key);
  }
  return {};
}

Status check_together(const Settings& settings) {
  if (settings.fabric == "roce" && settings.listen.empty()) {
    return wrong_setting("fabric", "roce needs an address to listen at: --listen HOST:PORT");
  }
  if (settings.tls_cert.empty() != settings.tls_key.empty()) {
    return wrong_setting(
        settings.tls_cert.empty() ? "tls_cert" : "tls_key",
        "TLS needs both a certificate and its key: --tls-cert FILE --tls-key FILE");
  }
  return {};
}

Result<Settings> parse_settings(std::string_view text, Settings settings) {
  REMORA_TRY_RESULT(entries, parse_toml(text));
  for (const TomlEntry& entry : *entries) {
    if (const Status status = apply_entry(settings, entry); !status.ok()) {
      return Status(Code::invalid_argument,
                    fmt::format("line {}: {}", entry.line, status.message()));
    }
  }
  return settings;
}

Result<Settings> read_settings(const std::string& path, Settings settings) {
  struct stat facts = {};
  std::ifstream file(path, std::ios::binary);
  if (!file || ::stat(path.c_str(), &facts) != 0) {
    return os_failure("cannot read the settings in " + path, errno);
  }
  if (!S_ISREG(facts.st_mode) || facts.st_size > static_cast<off_t>(settings_bytes_max)) {
    return Status(Code::invalid_argument, path + ": settings are a file of at most 1 MB");
  }
  std::ostringstream text;
  text << file.rdbuf();
  Result<Settings> read = parse_settings(text.str(), std::move(settings));
  if (!read.ok()) {
    return Status(read.code(), fmt::format("{}: {}", path, read.status().message()));
  }
  if (!read->access.tokens.empty() && (facts.st_mode & (S_IROTH | S_IWOTH)) != 0) {
    return Status(Code::permission_denied,
                  fmt::format("{}: others can read the tokens in it; {}", path,
                              facts.st_uid == ::geteuid() ? fmt::format("chmod o= {}", path)
                                                          : fmt::format("chgrp {} {}; chmod 640 {}",
                                                                        own_group(), path, path)));
  }
  return read;
}

std::string socket_of(const Settings& settings) {
  if (!settings.socket.empty()) {
    return settings.socket;
  }
  if (settings.pool.empty()) {
    return default_socket();
  }
  return std::filesystem::path(settings.pool).replace_extension(".sock").string();
}

std::string default_socket() {
  return socket_of(Settings());
}

}  // namespace remora::server
