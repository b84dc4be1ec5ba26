// Volume: the files of a pool. Directories, files, links, attributes, with the meaning and the
// errnos of POSIX. docs/files.md has the rules and what a cut may leave.
//
// PROMISE. Changes of names and attributes are atomic, and survive in the order in which they were
// made: when the Receipt of one is persistent it has survived, and so have all before it. Bytes are
// written in place: after a cut each aligned word that was not synced is old or new, synced ones
// are new. A size is never ahead of the bytes that it shows. Bytes behind the size, of freed blocks
// or of other files never show.
//
// On byte and cache-line media a receipt is persistent when the call returns. On page media it
// becomes so with a commit, or with two for fsync after bytes were appended; wait() blocks for
// that, and tend() brings it about.
//
// Times of reads and writes may lag until the next fsync of the file, or change of its attributes.
//
// One owner thread, which owns the pool. The pool must outlive the volume. Nothing blocks but
// wait(), and what waits for space of a full pool to come back. Nothing is changed once damage was
// found: EROFS. Numbers of files are used again when a file is gone; hold() keeps it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/faults.h"
#include "base/result.h"
#include "file/core.h"
#include "file/rights.h"

namespace remora::file {

// When what a call changed is persistent: ask the volume.
struct Receipt {
  Ticket ticket;
  Number number = 0;  // 0: the ticket says all
  std::uint64_t born_ns = 0;
  std::uint64_t round = 0;
};

struct Attributes {
  Number number = 0;
  std::uint32_t mode = 0;
  std::uint32_t links = 0;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::uint64_t size = 0;
  std::uint64_t blocks = 0;  // of 4 KiB that it occupies
  std::uint64_t device = 0;
  std::uint64_t atime_ns = 0;
  std::uint64_t mtime_ns = 0;
  std::uint64_t ctime_ns = 0;
  std::uint64_t born_ns = 0;
};

struct Made {
  Number number = 0;
  Receipt receipt;
};

struct Written {
  std::uint64_t bytes = 0;
};

struct DirectoryEntry {
  std::string name;
  Number number = 0;
  std::uint32_t type = 0;      // S_IFMT bits
  std::uint64_t position = 0;  // to go on behind it
};

enum class Rename { replace, no_replace, exchange };
enum class SetAttribute { create_or_replace, create, replace };

// What is to change; the rest stays.
struct AttributeChange {
  std::optional<std::uint32_t> mode = {};
  std::optional<std::uint32_t> uid = {};
  std::optional<std::uint32_t> gid = {};
  std::optional<std::uint64_t> size = {};
  std::optional<std::uint64_t> atime_ns = {};
  std::optional<std::uint64_t> mtime_ns = {};
};

struct VolumeUsage {
  std::uint64_t size_bytes = 0;   // of the pool
  std::uint64_t free_bytes = 0;   // that files may take
  std::uint64_t files_bytes = 0;  // that files hold, trees and inodes among that
};

struct VolumeOptions {
  std::uint64_t hash_seed = 0;  // of names: drawn by whoever makes the volume
  std::uint32_t mode = 0755;    // of the root directory
  NodeLimits limits = {};
};

// What check() found.
struct CheckReport {
  std::uint64_t directories = 0;
  std::uint64_t files = 0;  // all that is no directory
  std::uint64_t orphans = 0;
  std::uint64_t extents = 0;
  std::uint64_t data_blocks = 0;
  std::vector<std::string> problems;  // each with its place
};

class Volume {
 public:
  // Makes files in a pool that has none. Persistent with the next commit.
  static Result<std::unique_ptr<Volume>> make(Pool& pool, const Caller& owner,
                                              const VolumeOptions& options = {},
                                              const Faults& faults = Faults());
  // Opens them, and frees what was left to be freed. not_found when the pool has no files.
  static Result<std::unique_ptr<Volume>> open(Pool& pool, const Faults& faults = Faults());
  ~Volume();

  Number root() const;

  // --- Names (names.cpp, rename.cpp). A name has 1 to 255 bytes, no '/' and no NUL.
  Outcome<Number> lookup(const Caller& caller, Number directory, std::string_view name);
  // A file, fifo, socket or device; the mode with its type.
  Outcome<Made> create(const Caller& caller, Number directory, std::string_view name,
                       std::uint32_t mode, std::uint64_t device = 0);
  Outcome<Made> make_directory(const Caller& caller, Number directory, std::string_view name,
                               std::uint32_t mode);
  Outcome<Made> symlink(const Caller& caller, Number directory, std::string_view name,
                        std::string_view target);
  Outcome<Receipt> link(const Caller& caller, Number number, Number directory,
                        std::string_view name);
  Outcome<Receipt> unlink(const Caller& caller, Number directory, std::string_view name);
  Outcome<Receipt> remove_directory(const Caller& caller, Number directory, std::string_view name);
  Outcome<Receipt> rename(const Caller& caller, Number from, std::string_view old_name, Number to,
                          std::string_view new_name, Rename how = Rename::replace);
  // Entries behind `position`, which is 0 at first, until `visit` returns false. In no order that
  // means something; an entry that is there all the while is visited once.
  Errno read_directory(const Caller& caller, Number directory, std::uint64_t position,
                       const std::function<bool(const DirectoryEntry& entry)>& visit);
  Outcome<std::string> read_link(Number number);
  Outcome<Number> parent(Number directory);
  // Follows every name of a path, and symbolic links in it; the last one too where `follow` says
  // so. Begins at the root.
  Outcome<Number> walk(const Caller& caller, std::string_view path, bool follow = true);

  // --- Attributes (attributes.cpp).
  Outcome<Attributes> attributes(Number number);
  Outcome<Receipt> change_attributes(const Caller& caller, Number number,
                                     const AttributeChange& change);
  Outcome<std::string> attribute(const Caller& caller, Number number, std::string_view name);
  Outcome<std::vector<std::string>> attribute_names(Number number);
  Outcome<Receipt> set_attribute(const Caller& caller, Number number, std::string_view name,
                                 std::string_view value,
                                 SetAttribute how = SetAttribute::create_or_replace);
  Outcome<Receipt> remove_attribute(const Caller& caller, Number number, std::string_view name);
  // EACCES when the caller has not these rights (rights.h).
  Errno access(const Caller& caller, Number number, unsigned wanted);

  // --- Bytes (contents.cpp). Rights were judged when the file was opened.
  // A file that is held lives on without a name until the last release.
  Errno hold(Number number);
  Errno release(Number number);
  // How many bytes were read: less than asked at the end of the file alone.
  Outcome<std::uint64_t> read(Number number, std::uint64_t offset, Bytes to, std::uint64_t now_ns);
  // How many bytes were written: less than asked only when the pool is full.
  Outcome<Written> write(const Caller& caller, Number number, std::uint64_t offset,
                         ConstBytes from);
  Outcome<Written> append(const Caller& caller, Number number, ConstBytes from);
  Errno truncate(const Caller& caller, Number number, std::uint64_t size);
  // Blocks for these bytes; the size grows to hold them unless `keep_size` says otherwise.
  Errno allocate(const Caller& caller, Number number, std::uint64_t offset, std::uint64_t size,
                 bool keep_size);
  // These bytes read as zeros, and whole blocks of them are given back. The size stays.
  Errno punch(const Caller& caller, Number number, std::uint64_t offset, std::uint64_t size);
  // All that was written to the file is persistent when the receipt is.
  Outcome<Receipt> fsync(Number number);
  // The place of these bytes in the pool, and how many of them lie there in one piece; 0 bytes in a
  // hole.
  Outcome<ConstBytes> map(Number number, std::uint64_t offset);
  // Moves up to so many of the file's extents into fewer, larger ones (move.cpp). How many it has
  // moved; blocks for a commit on page media.
  Outcome<std::uint64_t> defragment(Number number, std::uint64_t most_extents);
  Outcome<std::uint64_t> extent_count(Number number);

  // --- Persistence.
  bool persistent(const Receipt& receipt) const;
  // Blocks until it is.
  Errno wait(const Receipt& receipt);
  // Everything that was done before is persistent when it returns. Blocks.
  Errno sync();
  // For whoever serves: goes on with rounds whose bytes have become persistent, and begins those of
  // files that were written to. Never blocks; asks for the commits that it needs. True while
  // something is under way.
  bool tend();
  // The orderly end: syncs, and frees what was held and has no name.
  Errno close();

  VolumeUsage usage() const;
  // Reads every node and inode, and compares them with each other and with what the pool says that
  // files hold. Everything must have been synced.
  CheckReport check();
  // The first damage that was found, or nothing.
  const std::string& damage() const;
  // How many orphans opening has freed or cut.
  std::uint64_t recovered() const;

 private:
  struct Parts;

  explicit Volume(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace remora::file
