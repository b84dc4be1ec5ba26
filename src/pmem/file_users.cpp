#include "pmem/file_users.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>

namespace remora {
namespace {

constexpr std::size_t most_users = 8;

struct Wanted {
  dev_t device = 0;
  ino_t inode = 0;
  std::string path;
};

// A line is "from-to rw-s offset major:minor inode path". Some file systems have other devices
// there than `stat` tells; their paths are the same.
bool maps_file(const std::string& line, const Wanted& wanted) {
  std::istringstream words(line);
  std::string range, rights, offset, device, path;
  ino_t inode = 0;
  if (!(words >> range >> rights >> offset >> device >> inode) || inode != wanted.inode ||
      rights.size() < 4 || rights[1] != 'w' || rights[3] != 's') {
    return false;
  }
  std::getline(words >> std::ws, path);
  char expected[32];
  std::snprintf(expected, sizeof expected, "%02x:%02x", major(wanted.device), minor(wanted.device));
  return device == expected || path == wanted.path;
}

bool has_mapped(const std::filesystem::path& process, const Wanted& wanted) {
  std::ifstream maps(process / "maps");
  std::string line;
  while (std::getline(maps, line)) {
    if (maps_file(line, wanted)) {
      return true;
    }
  }
  return false;
}

bool has_open(const std::filesystem::path& process, const Wanted& wanted) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(process / "fd", error), end;
       !error && entry != end; entry.increment(error)) {
    struct stat facts = {};
    if (::stat(entry->path().c_str(), &facts) == 0 && facts.st_dev == wanted.device &&
        facts.st_ino == wanted.inode) {
      return true;
    }
  }
  return false;
}

// /proc/PID/stat is "pid (name) state ...", and the name may have anything in it.
FileUser described(pid_t pid, const std::filesystem::path& process) {
  FileUser user{.pid = pid};
  std::ifstream file(process / "stat");
  std::string line;
  std::getline(file, line);
  const std::size_t begin = line.find('(');
  const std::size_t end = line.rfind(')');
  if (begin != line.npos && end != line.npos && begin < end) {
    user.name = line.substr(begin + 1, end - begin - 1);
    const char state = end + 2 < line.size() ? line[end + 2] : '?';
    user.is_stopped = state == 'T' || state == 't';
  }
  return user;
}

std::optional<pid_t> number_of(const std::string& name) {
  pid_t pid = 0;
  const auto [stopped, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  return error == std::errc() && stopped == name.data() + name.size() ? std::optional(pid)
                                                                      : std::nullopt;
}

}  // namespace

std::vector<FileUser> users_of_file(int descriptor) {
  struct stat facts = {};
  if (::fstat(descriptor, &facts) != 0) {
    return {};
  }
  std::error_code error;
  const Wanted wanted{
      .device = facts.st_dev,
      .inode = facts.st_ino,
      .path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor), error)
                  .string()};
  std::vector<FileUser> users;
  for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::optional<pid_t> pid = number_of(entry->path().filename().string());
    if (pid && (has_mapped(entry->path(), wanted) ||
                (*pid != ::getpid() && has_open(entry->path(), wanted)))) {
      users.push_back(described(*pid, entry->path()));
    }
  }
  std::ranges::sort(users, {}, &FileUser::pid);
  users.resize(std::min(users.size(), most_users));
  return users;
}

std::string words_of(const std::vector<FileUser>& users) {
  std::string words;
  for (const FileUser& user : users) {
    const std::string number = std::to_string(user.pid);
    words += words.empty() ? "process " : ", process ";
    words += number + " (" + user.name + ")";
    if (user.is_stopped) {
      words += ", which is stopped (kill -CONT " + number + " lets it go on)";
    }
  }
  return words;
}

}  // namespace remora
