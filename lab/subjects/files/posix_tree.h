// PosixTree: what POSIX says of names, kept in plain maps: the model that files are held to. It
// shares no code with src/file, has no notion of a medium, and is copied as a value. The bytes of
// files are kept apart (file_contents.h).
//
// Operations return 0 or the errno that POSIX and Linux have, for root.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace remora::lab {

enum class PosixKind : char { directory = 'd', file = 'f', link = 'l' };

struct PosixFile {
  PosixKind kind = PosixKind::file;
  std::uint32_t mode = 0;  // permissions
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::uint64_t born = 0;              // when it was made, which tells two files of one name apart
  int parent = 0;                      // of a directory
  std::uint32_t names = 0;             // of what is no directory
  std::string target;                  // of a link
  std::map<std::string, int> entries;  // of a directory
  std::map<std::string, std::string> attributes;
};

enum class PosixRename { replace, no_replace, exchange };

class PosixTree {
 public:
  // With a root directory of these permissions, whose id is 0.
  explicit PosixTree(std::uint32_t mode = 0755, std::uint64_t born = 0);

  // The id of what is made is `next_id` afterwards minus one.
  int make(int directory, const std::string& name, PosixKind kind, std::uint32_t mode,
           const std::string& target = "", std::uint64_t born = 0);
  int link(int file, int directory, const std::string& name);
  int unlink(int directory, const std::string& name);
  int remove_directory(int directory, const std::string& name);
  int rename(int from, const std::string& old_name, int to, const std::string& new_name,
             PosixRename how);
  int change_mode(int file, std::uint32_t mode);
  int change_owner(int file, std::uint32_t uid, std::uint32_t gid);
  int set_attribute(int file, const std::string& name, const std::string& value);
  int remove_attribute(int file, const std::string& name);

  bool has(int id) const { return files_.contains(id); }
  const PosixFile& at(int id) const { return files_.at(id); }
  int last_made() const { return next_id_ - 1; }
  // From here on ids begin there: two trees that must not share any.
  void begin_ids(int first) { next_id_ = first; }
  std::vector<int> of_kind(PosixKind kind) const;
  // Under any name; files without one are gone here.
  std::uint32_t links_of(int id) const;

  // Every path with all that is to be said of it, sorted: two trees are the same when these are.
  std::string describe() const;
  // The paths of what is no directory, the first of each, by id.
  std::map<int, std::string> paths() const;

 private:
  bool is_within(int directory, int ancestor) const;
  void drop(int id);
  void describe(int id, const std::string& path, std::map<int, std::string>& first,
                std::string& text) const;
  static int fault_of(const std::string& name);

  std::map<int, PosixFile> files_;
  int next_id_ = 1;
};

// The line that describe() has for a path. `same` is the first path of the same file.
std::string describe_line(const std::string& path, char kind, std::uint32_t mode, std::uint32_t uid,
                          std::uint32_t gid, std::uint32_t links, std::uint64_t born,
                          const std::string& same, const std::string& target,
                          const std::map<std::string, std::string>& attributes);

}  // namespace remora::lab
