#include "file/volume.h"

#include <sys/stat.h>

#include <set>

#include "file/attributes.h"
#include "file/checker.h"
#include "file/contents.h"
#include "file/faults.h"
#include "file/names.h"

namespace remora::file {

namespace {

// A change that no record holds is refused like one for which there is no space.
template <typename T>
Outcome<T> plain(Outcome<T> outcome) {
  return outcome.error() == too_large ? Outcome<T>(Errno{ENOSPC}) : std::move(outcome);
}

}  // namespace

struct Volume::Parts {
  Parts(Pool& pool, const Faults& faults) : core(pool, faults) {}

  // A file that is open, or EISDIR, EINVAL.
  Outcome<Live*> file(Number number) {
    REMORA_FILE_TRY_OUTCOME(live, core.get(number));
    if (!(*live)->is_file()) {
      return Errno{(*live)->is_directory() ? EISDIR : EINVAL};
    }
    return live;
  }
  // Files with something that a round has to do.
  std::vector<Live*> busy() {
    std::vector<Live*> files;
    core.for_each_live([&files](Live& live) {
      if (live.dirty || live.draining || !live.round_tickets.empty()) {
        files.push_back(&live);
      }
    });
    return files;
  }
  // The file that the receipt is for; nullptr when it is gone: then so is what it waited for.
  Live* receiver(const Receipt& receipt) {
    const Outcome<Live*> live = core.get(receipt.number);
    return live.ok() && (*live)->recorded.born_ns == receipt.born_ns ? *live : nullptr;
  }
  Errno recover();

  Core core;
  Contents contents{core};
  Names names{core, contents};
  AttributesOf attributes{core, contents};
  std::uint64_t recovered = 0;
};

Volume::Volume(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Volume::~Volume() = default;

Result<std::unique_ptr<Volume>> Volume::make(Pool& pool, const Caller& owner,
                                             const VolumeOptions& options, const Faults& faults) {
  if (pool.root(format::root_name).ok()) {
    return Status(Code::already_exists, "the pool has files already; open them");
  }
  const NodeLimits& limits = options.limits;
  if (limits.leaf_bytes < smallest_nodes.leaf_bytes ||
      limits.branch_bytes < smallest_nodes.branch_bytes || limits.leaf_bytes > 65536 ||
      limits.branch_bytes > 65536) {
    return Status(Code::invalid_argument, "nodes of files have 640 bytes to 64 KiB");
  }
  auto parts = std::make_unique<Parts>(pool, faults);
  format::Inode root{};
  root.mode = S_IFDIR | (options.mode & 07777);
  root.links = 2;
  root.uid = owner.uid;
  root.gid = owner.gid;
  root.atime_ns = root.mtime_ns = root.ctime_ns = root.born_ns = owner.now_ns;
  const Outcome<Ticket> made = parts->core.make(root, options.hash_seed, limits, owner.now_ns);
  if (!made.ok()) {
    return Status(made.error() == ENOSPC ? Code::no_space : Code::io_error,
                  "files cannot be made in this pool: it is full, or has failed");
  }
  (void)parts->core.take_ballast();
  return std::unique_ptr<Volume>(new Volume(std::move(parts)));
}

Result<std::unique_ptr<Volume>> Volume::open(Pool& pool, const Faults& faults) {
  auto parts = std::make_unique<Parts>(pool, faults);
  std::string why;
  if (const Errno loaded = parts->core.load(why); !loaded.ok()) {
    return Status(loaded.number == ENOENT    ? Code::not_found
                  : loaded.number == ENOTSUP ? Code::unsupported
                                             : Code::damaged,
                  why);
  }
  (void)parts->core.take_ballast();
  if (!parts->recover().ok()) {
    const std::string& damage = parts->core.nodes.damage();
    return Status(damage.empty() ? Code::io_error : Code::damaged,
                  damage.empty() ? "files cannot be recovered: the pool has failed" : damage);
  }
  return std::unique_ptr<Volume>(new Volume(std::move(parts)));
}

// Each of the list is freed, or cut to its size. A cut on the way leaves a list that is shorter.
Errno Volume::Parts::recover() {
  if (core.planted(faults::orphan_kept)) {
    return Errno{};
  }
  std::vector<Live*> listed;
  std::set<Number> known;
  for (Number number = core.superblock().orphans; number != 0;) {
    const Outcome<Live*> live = core.get(number);
    if (!live.ok() || !known.insert(number).second) {
      return core.nodes.damaged("the list of orphans leads to " + std::to_string(number) +
                                ", which is no inode, or twice to the same");
    }
    listed.push_back(*live);
    number = (*live)->recorded.next_orphan;
  }
  // From the last one on, as if they had joined one by one.
  for (auto live = listed.rbegin(); live != listed.rend(); ++live) {
    core.note_listed(**live, true);
  }
  for (Live* live : listed) {
    REMORA_FILE_TRY(live->recorded.links == 0 ? contents.reap(*live) : contents.resume_cut(*live));
    ++recovered;
  }
  return Errno{};
}

Number Volume::root() const {
  return parts_->core.superblock().root;
}

Outcome<Number> Volume::lookup(const Caller& caller, Number directory, std::string_view name) {
  return parts_->names.lookup(caller, directory, name);
}

Outcome<Made> Volume::create(const Caller& caller, Number directory, std::string_view name,
                             std::uint32_t mode, std::uint64_t device) {
  const std::uint32_t type = (mode & S_IFMT) == 0 ? std::uint32_t{S_IFREG} : mode & S_IFMT;
  if (type == S_IFDIR || type == S_IFLNK) {
    return Errno{EINVAL};
  }
  const bool is_device = type == S_IFBLK || type == S_IFCHR;
  if (is_device && !caller.is_root()) {
    return Errno{EPERM};
  }
  return plain(parts_->names.make(caller, directory, name, type | (mode & 07777),
                                  is_device ? device : 0, {}));
}

Outcome<Made> Volume::make_directory(const Caller& caller, Number directory, std::string_view name,
                                     std::uint32_t mode) {
  return plain(parts_->names.make(caller, directory, name, S_IFDIR | (mode & 07777), 0, {}));
}

Outcome<Made> Volume::symlink(const Caller& caller, Number directory, std::string_view name,
                              std::string_view target) {
  if (target.empty()) {
    return Errno{ENOENT};
  }
  if (target.size() > format::longest_target) {
    return Errno{ENAMETOOLONG};
  }
  return plain(parts_->names.make(caller, directory, name, S_IFLNK | 0777, 0, target));
}

Outcome<Receipt> Volume::link(const Caller& caller, Number number, Number directory,
                              std::string_view name) {
  return plain(parts_->names.link(caller, number, directory, name));
}

Outcome<Receipt> Volume::unlink(const Caller& caller, Number directory, std::string_view name) {
  return plain(parts_->names.remove(caller, directory, name, false));
}

Outcome<Receipt> Volume::remove_directory(const Caller& caller, Number directory,
                                          std::string_view name) {
  return plain(parts_->names.remove(caller, directory, name, true));
}

Outcome<Receipt> Volume::rename(const Caller& caller, Number from, std::string_view old_name,
                                Number to, std::string_view new_name, Rename how) {
  return plain(parts_->names.rename(caller, from, old_name, to, new_name, how));
}

Errno Volume::read_directory(const Caller& caller, Number directory, std::uint64_t position,
                             const std::function<bool(const DirectoryEntry& entry)>& visit) {
  return parts_->names.read_directory(caller, directory, position, visit);
}

Outcome<std::string> Volume::read_link(Number number) {
  return parts_->names.read_link(number);
}

Outcome<Number> Volume::parent(Number directory) {
  REMORA_FILE_TRY_OUTCOME(live, parts_->core.get(directory));
  if (!(*live)->is_directory()) {
    return Errno{ENOTDIR};
  }
  return (*live)->recorded.parent;
}

Outcome<Number> Volume::walk(const Caller& caller, std::string_view path, bool follow) {
  return parts_->names.walk(caller, path, follow);
}

Outcome<Attributes> Volume::attributes(Number number) {
  return parts_->attributes.get(number);
}

Outcome<Receipt> Volume::change_attributes(const Caller& caller, Number number,
                                           const AttributeChange& change) {
  return parts_->attributes.change(caller, number, change);
}

Outcome<std::string> Volume::attribute(const Caller& caller, Number number, std::string_view name) {
  return parts_->attributes.extended(caller, number, name);
}

Outcome<std::vector<std::string>> Volume::attribute_names(Number number) {
  return parts_->attributes.extended_names(number);
}

Outcome<Receipt> Volume::set_attribute(const Caller& caller, Number number, std::string_view name,
                                       std::string_view value, SetAttribute how) {
  return plain(parts_->attributes.set_extended(caller, number, name, value, how));
}

Outcome<Receipt> Volume::remove_attribute(const Caller& caller, Number number,
                                          std::string_view name) {
  return plain(parts_->attributes.set_extended(caller, number, name, std::nullopt,
                                               SetAttribute::create_or_replace));
}

Errno Volume::access(const Caller& caller, Number number, unsigned wanted) {
  REMORA_FILE_TRY_OUTCOME(live, parts_->core.get(number));
  return Errno{may(caller, (*live)->recorded, wanted) ? 0 : EACCES};
}

Errno Volume::hold(Number number) {
  REMORA_FILE_TRY_OUTCOME(live, parts_->core.get(number));
  ++(*live)->opens;
  return Errno{};
}

Errno Volume::release(Number number) {
  REMORA_FILE_TRY_OUTCOME(live, parts_->core.get(number));
  if ((*live)->opens == 0) {
    return Errno{EINVAL};
  }
  const bool last = --(*live)->opens == 0;
  return last && (*live)->listed && (*live)->recorded.links == 0 ? parts_->contents.reap(**live)
                                                                 : Errno{};
}

Outcome<std::uint64_t> Volume::read(Number number, std::uint64_t offset, Bytes to,
                                    std::uint64_t now_ns) {
  REMORA_FILE_TRY_OUTCOME(live, parts_->file(number));
  return parts_->contents.read(**live, offset, to, now_ns);
}

Outcome<Written> Volume::write(const Caller& caller, Number number, std::uint64_t offset,
                               ConstBytes from) {
  REMORA_FILE_TRY_OUTCOME(live, parts_->file(number));
  return parts_->contents.write(caller, **live, offset, from);
}

Outcome<Written> Volume::append(const Caller& caller, Number number, ConstBytes from) {
  REMORA_FILE_TRY_OUTCOME(live, parts_->file(number));
  return parts_->contents.write(caller, **live, (*live)->size, from);
}

Errno Volume::truncate(const Caller& caller, Number number, std::uint64_t size) {
  REMORA_FILE_TRY_OUTCOME(live, parts_->file(number));
  return parts_->contents.truncate(caller, **live, size);
}

Errno Volume::allocate(const Caller& caller, Number number, std::uint64_t offset,
                       std::uint64_t size, bool keep_size) {
  REMORA_FILE_TRY_OUTCOME(live, parts_->file(number));
  return parts_->contents.allocate(caller, **live, offset, size, keep_size);
}

Errno Volume::punch(const Caller& caller, Number number, std::uint64_t offset, std::uint64_t size) {
  REMORA_FILE_TRY_OUTCOME(live, parts_->file(number));
  return parts_->contents.punch(caller, **live, offset, size);
}

Outcome<Receipt> Volume::fsync(Number number) {
  REMORA_FILE_TRY_OUTCOME(live, parts_->core.get(number));
  return parts_->contents.fsync(**live);
}

Outcome<ConstBytes> Volume::map(Number number, std::uint64_t offset) {
  REMORA_FILE_TRY_OUTCOME(live, parts_->file(number));
  return parts_->contents.map(**live, offset);
}

Outcome<std::uint64_t> Volume::defragment(Number number, std::uint64_t most_extents) {
  REMORA_FILE_TRY_OUTCOME(live, parts_->file(number));
  return parts_->contents.defragment(**live, most_extents);
}

Outcome<std::uint64_t> Volume::extent_count(Number number) {
  REMORA_FILE_TRY_OUTCOME(live, parts_->file(number));
  std::uint64_t count = 0;
  REMORA_FILE_TRY(parts_->core.nodes.for_each_node(
      Core::tree_of(**live), [&count](Offset /*place*/, const NodeView& node) {
        count += node.height() == 0 ? node.head().count : 0u;
      }));
  return count;
}

bool Volume::persistent(const Receipt& receipt) const {
  if (receipt.number == 0) {
    return parts_->core.pool().persistent(receipt.ticket);
  }
  Live* const live = parts_->receiver(receipt);
  return live != nullptr ? parts_->contents.persistent(*live, receipt.round)
                         : parts_->core.pool().persistent(parts_->core.removed());
}

Errno Volume::wait(const Receipt& receipt) {
  if (receipt.number == 0) {
    return Errno{parts_->core.pool().wait(receipt.ticket).ok() ? 0 : EIO};
  }
  if (Live* const live = parts_->receiver(receipt)) {
    return parts_->contents.wait(*live, receipt.round);
  }
  return Errno{parts_->core.pool().wait(parts_->core.removed()).ok() ? 0 : EIO};
}

Errno Volume::sync() {
  std::vector<Live*> files;
  parts_->core.for_each_live([&files](Live& live) { files.push_back(&live); });
  for (Live* live : files) {
    REMORA_FILE_TRY(parts_->contents.settle(*live));
  }
  Pool& pool = parts_->core.pool();
  return Errno{pool.wait(parts_->core.newest()).ok() ? 0 : EIO};
}

bool Volume::tend() {
  for (Live* live : parts_->busy()) {
    (void)parts_->contents.tend(*live);
  }
  const Result<bool> pool = parts_->core.pool().tend();
  return !parts_->busy().empty() || (pool.ok() && *pool);
}

Errno Volume::close() {
  std::vector<Number> orphans;
  parts_->core.for_each_live([&orphans](Live& live) {
    if (live.listed && live.recorded.links == 0) {
      orphans.push_back(live.number);
    }
  });
  for (const Number number : orphans) {
    REMORA_FILE_TRY_OUTCOME(live, parts_->core.get(number));
    REMORA_FILE_TRY(parts_->contents.reap(**live));
  }
  return sync();
}

VolumeUsage Volume::usage() const {
  Pool& pool = parts_->core.pool();
  const RoomUsage room = pool.room(Account::files);
  const std::uint64_t ballast = parts_->core.ballast_bytes();
  return {pool.size_bytes(), room.free_bytes, room.held_bytes - ballast};
}

CheckReport Volume::check() {
  return Checker(parts_->core).check();
}

const std::string& Volume::damage() const {
  return parts_->core.nodes.damage();
}

std::uint64_t Volume::recovered() const {
  return parts_->recovered;
}

}  // namespace remora::file
