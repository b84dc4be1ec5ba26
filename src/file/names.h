// Names: directories and what they lead to. Each operation is one record: entries, inodes, links,
// and what is freed with the last of them.
#pragma once

#include "file/contents.h"
#include "file/core.h"
#include "file/rights.h"
#include "file/volume.h"

namespace remora::file {

class Names {
 public:
  Names(Core& core, Contents& contents) : core_(core), contents_(contents) {}

  Outcome<Number> lookup(const Caller& caller, Number directory, std::string_view name);
  Outcome<Made> make(const Caller& caller, Number directory, std::string_view name,
                     std::uint32_t mode, std::uint64_t device, std::string_view target);
  Outcome<Receipt> link(const Caller& caller, Number number, Number directory,
                        std::string_view name);
  Outcome<Receipt> remove(const Caller& caller, Number directory, std::string_view name,
                          bool is_directory);
  Outcome<Receipt> rename(const Caller& caller, Number from, std::string_view old_name, Number to,
                          std::string_view new_name, Rename how);
  Errno read_directory(const Caller& caller, Number directory, std::uint64_t position,
                       const std::function<bool(const DirectoryEntry& entry)>& visit);
  Outcome<std::string> read_link(Number number);
  Outcome<Number> walk(const Caller& caller, std::string_view path, bool follow);

 private:
  // A name in a directory, and what it leads to.
  struct Found {
    Entry entry;
    Live* file = nullptr;
  };
  // What a rename changes, when all that can be refused has been.
  struct Move {
    Live* from = nullptr;
    Entry old_entry;
    Live* file = nullptr;
    Live* to = nullptr;
    std::string_view new_name;
    std::optional<Entry> replaced_entry;
    Live* replaced = nullptr;
    std::uint64_t now_ns = 0;
  };

  Outcome<Live*> directory(const Caller& caller, Number number, unsigned rights);
  Outcome<std::optional<Entry>> find(Live& directory, std::string_view name);
  Outcome<Found> found(Live& directory, std::string_view name);
  // The key for a new name: ENOSPC when the directory has too many of the same hash.
  Outcome<std::uint64_t> free_key(Live& directory, std::string_view name);
  // Builds a change and commits it; where one record does not hold it, makes room in these
  // directories first.
  Outcome<Ticket> perform(std::initializer_list<std::pair<Live*, std::uint64_t>> trees,
                          const std::function<Errno(Change& change)>& build);
  Errno add_removal(Change& change, Live& file, std::uint64_t now_ns, bool listed);
  Outcome<Receipt> remove_found(Live& directory, const Found& found, std::uint64_t now_ns);
  void note_removal(Live& file, bool listed);
  Errno check_rights(const Caller& caller, const Move& move, Rename how);
  Errno check_rename(const Caller& caller, const Move& move, Rename how);
  Outcome<bool> is_within(Live& directory, const Live& ancestor);
  Outcome<Receipt> replace(const Move& move, bool listed);
  Outcome<Receipt> exchange(const Move& move);
  Errno build_replace(Change& change, const Move& move, std::uint64_t key, bool listed);
  Errno rename_in_two(const Move& move, std::uint64_t key);

  Core& core_;
  Contents& contents_;
};

// 0, or why this is no name.
int fault_of_name(std::string_view name);

}  // namespace remora::file
