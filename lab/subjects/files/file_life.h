// FileLife: one power-on of a machine with files: a crash memory, a pool and a volume in it, and
// what the files may be if the power goes now. It does what programs do with files; cuts are its
// owner's business, by way of the memory's events.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "file/volume.h"
#include "lab/crash/subject.h"
#include "lab/memory/crash_memory.h"
#include "lab/memory/crash_region.h"
#include "lab/subjects/files/file_contents.h"
#include "lab/subjects/files/posix_tree.h"
#include "pmem/pool.h"

namespace remora::lab {

using SharedTree = std::shared_ptr<const PosixTree>;

// What a machine may hold after a cut.
struct ExpectedFiles {
  bool may_be_absent = false;
  std::vector<SharedTree> trees;         // names and attributes: one of these
  std::map<int, FileContents> contents;  // by id
  std::set<int> roomy;                   // files that may have blocks behind their size
};

class FileLife {
 public:
  inline static constexpr std::uint64_t pool_bytes = 640 << 10;

  using Expected = ExpectedFiles;
  struct Shared {
    int next_id = 1;               // no two files of a run have the same
    std::uint64_t now_ns = 1'000;  // nor two calls the same time
  };

  FileLife(SiteTable& sites, Shared& shared);

  CrashMemory& memory() { return memory_; }

  void power_on(ConstBytes image, const Platform& platform, const Faults& faults,
                const ExpectedFiles& expected, Random random);
  std::optional<Broken> create();
  std::optional<Broken> recover();
  bool goes_on() const { return volume_ != nullptr; }
  std::optional<Broken> step();
  ExpectedFiles expectation() const;

 private:
  struct Pending {
    SharedTree tree;
    std::optional<file::Receipt> receipt;  // none while the call is under way
  };
  struct Sync {
    int id;
    FileVersion version;
    file::Receipt receipt;
  };
  using ModelOp = std::function<int(PosixTree& tree)>;
  using FileOp = std::function<file::Outcome<file::Receipt>()>;

  const PosixTree& now() const { return *pending_.back().tree; }
  file::Caller caller() { return {0, 0, {}, ++shared_.now_ns}; }
  file::Number number(int id) const { return numbers_.at(id); }
  int any_directory();
  int any_file();
  std::string any_name();
  bool is_full() const;

  std::optional<Broken> names(const std::string& what, const ModelOp& model, const FileOp& op);
  std::optional<Broken> make_something();
  std::optional<Broken> remove_something();
  std::optional<Broken> rename_something();
  std::optional<Broken> change_attributes();
  std::optional<Broken> bytes(int id, const std::string& what, std::string after,
                              const std::function<int()>& op);
  std::optional<Broken> write();
  std::optional<Broken> truncate();
  std::optional<Broken> punch();
  std::optional<Broken> allocate();
  std::optional<Broken> defragment();
  std::optional<Broken> fsync();
  std::optional<Broken> hold_or_release();
  std::optional<Broken> commit_something();
  std::optional<Broken> compare();
  std::optional<Broken> restart();

  std::string read_all(file::Number number, std::optional<Broken>& broken);
  // What the volume has, as PosixTree describes itself; `found` gets the numbers by path.
  std::string describe(std::map<std::string, file::Number>& found, std::optional<Broken>& broken);
  void describe_below(file::Number number, const std::string& path,
                      std::map<file::Number, std::string>& first,
                      std::map<std::string, file::Number>& found, std::string& text,
                      std::optional<Broken>& broken);
  std::optional<Broken> check_contents(bool recovered);
  std::optional<Broken> check_volume();
  // What has become persistent is no longer in doubt.
  void settle();
  void take_numbers(const PosixTree& tree, const std::map<std::string, file::Number>& found);

  Shared& shared_;
  CrashMemory memory_;
  std::optional<CrashRegion> region_;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<file::Volume> volume_;
  Random random_{0};
  Faults faults_;
  ExpectedFiles expected_;
  bool creating_ = false;
  SharedTree created_;
  bool crowded_ = false;          // large writes, so that the pool is often full
  bool syncs_ = false;            // often
  std::vector<Pending> pending_;  // from the newest persistent tree on, oldest first
  std::vector<Sync> pending_syncs_;
  std::map<int, FileContents> contents_;
  std::map<int, file::Number> numbers_;
  std::set<int> roomy_;
  std::map<int, file::Number> held_;  // open, with a name or without
};

}  // namespace remora::lab
