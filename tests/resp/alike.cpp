#include "tests/resp/alike.h"

#include <algorithm>

namespace remora::resp {
namespace {

// Two integers that are less than a minute apart, if they are milliseconds: the machine may stand
// still between the two questions. Times here are of a thousand seconds or more.
bool are_near(const std::string& one, const std::string& other) {
  if (one == other) {
    return true;
  }
  if (one.empty() || other.empty() || one[0] != ':' || other[0] != ':') {
    return false;
  }
  const long long difference = std::atoll(one.c_str() + 1) - std::atoll(other.c_str() + 1);
  return std::llabs(difference) < 60'000;
}

// All that a SCAN with these options finds, up to its end; `reply` is that to its first call.
std::set<std::string> all_keys(Client& client, std::vector<std::string> scan, std::string reply) {
  std::set<std::string> keys;
  for (;;) {
    const std::vector<std::string> parts = bulks_of(reply);
    keys.insert(parts.begin() + 1, parts.end());
    scan[1] = parts.front();
    if (scan[1] == "0") {
      return keys;
    }
    reply = client.ask(scan);
  }
}

std::vector<std::string> sorted(std::vector<std::string> list) {
  std::ranges::sort(list);
  return list;
}

}  // namespace

const CampaignNumber campaign_commands("commands", "how many (2500; of transactions 4000)");
const CampaignNumber campaign_seed("seed", "of the commands (1)");

std::string shown(const std::string& bytes) {
  std::string text;
  for (const char letter : bytes.substr(0, 300)) {
    text += letter >= ' ' && letter <= '~' ? std::string(1, letter) : ".";
  }
  return text;
}

std::string shown(const std::vector<std::string>& args) {
  std::string text;
  for (const std::string& arg : args) {
    text += "'" + shown(arg) + "' ";
  }
  return text;
}

std::set<std::string> all_keys(Client& client) {
  const std::vector<std::string> scan = {"SCAN", "0", "COUNT", "7"};
  return all_keys(client, scan, client.ask(scan));
}

std::string without_id(std::string hello) {
  const std::string name = "$2\r\nid\r\n:";
  if (const std::size_t at = hello.find(name); at != std::string::npos) {
    const std::size_t from = at + name.size();
    hello.erase(from, hello.find('\r', from) - from);
  }
  return hello;
}

// Where the value at this place of a reply ends.
std::size_t end_of(const std::string& reply, std::size_t at) {
  const std::size_t line = reply.find("\r\n", at) + 2;
  const long long count = std::atoll(reply.c_str() + at + 1);
  switch (reply[at]) {
    case '$':
    case '=':
      return count < 0 ? line : line + static_cast<std::size_t>(count) + 2;
    case '*':
    case '~':
    case '%': {
      std::size_t end = line;
      for (long long left = reply[at] == '%' ? 2 * count : count; left > 0; --left) {
        end = end_of(reply, end);
      }
      return end;
    }
    default:
      return line;
  }
}

bool were_alike(const RandomCommand& command, const std::string& expected, const std::string& got) {
  if (expected == got) {
    return true;
  }
  switch (command.reply) {
    case RandomCommand::Reply::same:
      return false;
    case RandomCommand::Reply::near:
      return are_near(expected, got);
    case RandomCommand::Reply::any_of:
      return expected[0] == '$' && got[0] == '$' &&
             bulks_of(expected).size() == bulks_of(got).size();
    case RandomCommand::Reply::set:
      return sorted(bulks_of(expected)) == sorted(bulks_of(got)) &&
             expected.substr(0, 4) == got.substr(0, 4);
    case RandomCommand::Reply::scan:
      return expected[0] == '*' && got[0] == '*';
    case RandomCommand::Reply::hello:
      return without_id(expected) == without_id(got);
  }
  return false;
}

bool are_alike(const RandomCommand& command, Client& theirs, const std::string& expected,
               Client& ours, const std::string& got) {
  if (expected == got) {
    return true;
  }
  if (!were_alike(command, expected, got)) {
    return false;
  }
  switch (command.reply) {
    case RandomCommand::Reply::any_of:
      return ours.ask({"EXISTS", bulks_of(got).front()}) == ":1\r\n";
    case RandomCommand::Reply::scan:
      return all_keys(theirs, command.args, expected) == all_keys(ours, command.args, got);
    default:
      return true;
  }
}

std::vector<std::string> elements_of(const std::string& reply) {
  std::vector<std::string> elements;
  for (std::size_t at = reply.find("\r\n") + 2; at < reply.size();) {
    const std::size_t end = end_of(reply, at);
    elements.push_back(reply.substr(at, end - at));
    at = end;
  }
  return elements;
}

}  // namespace remora::resp
