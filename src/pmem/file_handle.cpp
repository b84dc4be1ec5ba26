#include "pmem/file_handle.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <utility>

#include "pmem/file_users.h"

namespace remora {
namespace {

constexpr mode_t owner_only = 0600;

// Of a device DAX, as the kernel tells it; 0 for all else.
std::uint64_t dax_device_bytes(const struct stat& facts) {
  if (!S_ISCHR(facts.st_mode)) {
    return 0;
  }
  const std::string device = "/sys/dev/char/" + std::to_string(major(facts.st_rdev)) + ":" +
                             std::to_string(minor(facts.st_rdev));
  std::error_code unknown;
  std::uint64_t bytes = 0;
  if (std::filesystem::read_symlink(device + "/subsystem", unknown).filename() == "dax") {
    std::ifstream(device + "/size") >> bytes;
  }
  return bytes;
}

// One byte beyond any content.
struct flock mapped_mark(short kind) {
  struct flock mark {};
  mark.l_type = kind;
  mark.l_whence = SEEK_SET;
  mark.l_start = off_t{1} << 62;
  mark.l_len = 1;
  return mark;
}

bool is_mapped_elsewhere(int descriptor) {
  struct flock mark = mapped_mark(F_WRLCK);
  return fcntl(descriptor, F_OFD_GETLK, &mark) == 0 && mark.l_type != F_UNLCK;
}

// Makes the new name itself persistent: without this a power cut may take the file away.
Status sync_folder_of(const std::string& path) {
  std::string folder = std::filesystem::path(path).parent_path().string();
  if (folder.empty()) {
    folder = ".";
  }
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) {
    return os_failure("cannot open the folder " + folder, errno);
  }
  const int error = fsync(descriptor) == 0 ? 0 : errno;
  close(descriptor);
  // Some file systems have no such thing for folders; theirs is persistent by other means.
  return error == 0 || error == EINVAL ? Status() : os_failure("cannot sync " + folder, error);
}

bool is_full(int error) {
  return error == ENOSPC || error == EDQUOT;
}

std::uint64_t allocated_bytes(const struct stat& facts) {
  constexpr std::uint64_t unit_bytes = 512;  // whatever the file system's own blocks are
  return static_cast<std::uint64_t>(facts.st_blocks) * unit_bytes;
}

// Whether each byte of the file has room on its medium, as far as that is known without a change.
// File systems on disks count blocks of their own to the file's, so that a few holes may hide
// behind those; there a hole is looked for too. (Of a new pool, SEEK_HOLE calls blocks holes that
// are allocated and were not written yet: then the file system is asked to allocate what it has.)
bool is_allocated(int descriptor, const struct stat& facts, bool in_memory) {
  return allocated_bytes(facts) >= static_cast<std::uint64_t>(facts.st_size) &&
         (in_memory || lseek(descriptor, 0, SEEK_HOLE) >= facts.st_size);
}

// What the disk has left is asked first: some file systems keep what a failed fallocate has got.
bool has_room(int descriptor, std::uint64_t missing_bytes) {
  struct statfs disk {};
  return fstatfs(descriptor, &disk) != 0 || disk.f_blocks == 0 ||
         static_cast<std::uint64_t>(disk.f_bfree) * static_cast<std::uint64_t>(disk.f_bsize) >=
             missing_bytes;
}

Status refuse_growth(const std::string& path, std::uint64_t more_bytes) {
  return Status(Code::no_space, "cannot make " + path + " larger: the disk has no room for " +
                                    std::to_string(more_bytes) +
                                    " more bytes; make room, or choose a smaller size");
}

Status refuse_holes(const std::string& path, std::uint64_t missing_bytes) {
  return Status(Code::no_space, "cannot open " + path +
                                    ": the file has holes (a copy that was restored without its "
                                    "zeros?), and the disk has no room for what is missing, " +
                                    std::to_string(missing_bytes) +
                                    " bytes; make room, or restore the copy to a larger disk");
}

Status allocate_in_full(int descriptor, const std::string& path, std::uint64_t size_bytes) {
  const int error = posix_fallocate(descriptor, 0, static_cast<off_t>(size_bytes));
  if (is_full(error)) {
    return Status(Code::no_space, "cannot create " + path + ": the disk has no room for " +
                                      std::to_string(size_bytes) +
                                      " bytes; choose a smaller size or another disk");
  }
  if (error == EFBIG) {
    return Status(Code::no_space, "cannot create " + path + ": " + std::to_string(size_bytes) +
                                      " bytes are more than this file system, or the limit on file "
                                      "sizes (ulimit -f), lets a file have; choose a smaller size");
  }
  if (error != 0) {
    return os_failure("cannot allocate " + path, error);
  }
  return fsync(descriptor) == 0 ? sync_folder_of(path) : os_failure("cannot sync " + path, errno);
}

}  // namespace

FileHandle::FileHandle(int descriptor, std::string path, bool writable)
    : descriptor_(descriptor), path_(std::move(path)), writable_(writable) {}

FileHandle::FileHandle(FileHandle&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      writable_(other.writable_),
      device_bytes_(other.device_bytes_) {}

FileHandle& FileHandle::operator=(FileHandle&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  std::swap(writable_, other.writable_);
  std::swap(device_bytes_, other.device_bytes_);
  return *this;
}

FileHandle::~FileHandle() {
  if (descriptor_ >= 0) {
    close(descriptor_);
  }
}

Result<FileHandle> FileHandle::open(const std::string& path, bool writable) {
  // O_NONBLOCK: opening a named pipe must not wait for its other end before it is refused below.
  const int flags = (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK;
  const int descriptor = ::open(path.c_str(), flags);
  if (descriptor < 0) {
    if (errno == ENOENT) {
      return Status(Code::not_found, "there is no file " + path +
                                         "; create a pool with: remora pool create " + path);
    }
    return os_failure("cannot open " + path, errno);
  }
  FileHandle handle(descriptor, path, writable);
  struct stat facts {};
  if (fstat(descriptor, &facts) != 0) {
    return os_failure("cannot look at " + path, errno);
  }
  handle.device_bytes_ = dax_device_bytes(facts);
  if (!S_ISREG(facts.st_mode) && !handle.is_device()) {
    return Status(Code::invalid_argument,
                  path + " is neither a regular file nor a device DAX; a pool is one of them");
  }
  if (flock(descriptor, (writable ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0) {
    return Status(Code::in_use, path +
                                    " is in use; stop the process that has it open first (a pool "
                                    "has one owner at a time)");
  }
  // Who had the lock before may have removed the file: a pool without a name would serve, and be
  // gone with its server.
  if (!leads_to(path, descriptor)) {
    return Status(Code::in_use, path + " is being removed; try again");
  }
  if (is_mapped_elsewhere(descriptor)) {
    const std::string who = words_of(users_of_file(descriptor));
    return Status(Code::in_use,
                  path + " is still mapped by a client of the process that had it open before" +
                      (who.empty() ? "" : ": " + who) +
                      "; it lets go when it notices, or when it ends: try again, or end it");
  }
  return handle;
}

bool FileHandle::is_dax_device(const std::string& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 && dax_device_bytes(facts) != 0;
}

Status FileHandle::mark_mapped(int descriptor) {
  struct flock mark = mapped_mark(F_RDLCK);
  return fcntl(descriptor, F_OFD_SETLK, &mark) == 0 ? Status()
                                                    : os_failure("cannot mark a mapping", errno);
}

bool leads_to(const std::string& path, int descriptor) {
  struct stat named = {};
  struct stat opened = {};
  return stat(path.c_str(), &named) == 0 && fstat(descriptor, &opened) == 0 &&
         named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

Result<FileHandle> FileHandle::create(const std::string& path, std::uint64_t size_bytes) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, owner_only);
  if (descriptor < 0) {
    if (errno == EEXIST) {
      return Status(Code::already_exists,
                    path + " exists already; remove it first, or choose another path");
    }
    return os_failure("cannot create " + path, errno);
  }
  FileHandle handle(descriptor, path, true);
  Status status = flock(descriptor, LOCK_EX | LOCK_NB) == 0
                      ? allocate_in_full(descriptor, path, size_bytes)
                      : os_failure("cannot lock " + path, errno);
  if (!status.ok()) {
    unlink(path.c_str());
    return status;
  }
  return handle;
}

Result<std::uint64_t> FileHandle::size_bytes() const {
  if (is_device()) {
    return device_bytes_;
  }
  struct stat facts {};
  if (fstat(descriptor_, &facts) != 0) {
    return os_failure("cannot look at " + path_, errno);
  }
  return static_cast<std::uint64_t>(facts.st_size);
}

Status FileHandle::fill_holes() const {
  if (is_device()) {
    return Status();
  }
  struct stat facts {};
  if (fstat(descriptor_, &facts) != 0) {
    return os_failure("cannot look at " + path_, errno);
  }
  if (is_allocated(descriptor_, facts, in_memory())) {
    return Status();
  }
  const auto size_bytes = static_cast<std::uint64_t>(facts.st_size);
  const std::uint64_t missing_bytes = size_bytes - std::min(size_bytes, allocated_bytes(facts));
  if (!has_room(descriptor_, missing_bytes)) {
    return refuse_holes(path_, missing_bytes);
  }
  const int error = posix_fallocate(descriptor_, 0, facts.st_size);
  if (is_full(error)) {
    return refuse_holes(path_, missing_bytes);
  }
  return error == 0 ? Status() : os_failure("cannot allocate what is missing of " + path_, error);
}

Status FileHandle::extend(std::uint64_t size_bytes) const {
  REMORA_TRY_RESULT(found_bytes, this->size_bytes());
  // An earlier growth that was killed may have left the file longer, and not yet persistent.
  const std::uint64_t more_bytes = size_bytes - std::min(size_bytes, *found_bytes);
  if (!has_room(descriptor_, more_bytes)) {
    return refuse_growth(path_, more_bytes);
  }
  int error = more_bytes == 0 ? 0
                              : posix_fallocate(descriptor_, static_cast<off_t>(*found_bytes),
                                                static_cast<off_t>(more_bytes));
  if (error == 0 && fsync(descriptor_) != 0) {
    error = errno;
  }
  if (error == 0) {
    return Status();
  }
  // What it got is given back. Where that fails, the file is longer than its pool, which may be.
  (void)!ftruncate(descriptor_, static_cast<off_t>(*found_bytes));
  if (is_full(error) || error == EFBIG) {
    return refuse_growth(path_, more_bytes);
  }
  return os_failure("cannot make " + path_ + " larger", error);
}

bool FileHandle::in_memory() const {
  struct statfs facts {};
  // A device is no such file, though its name may be (devtmpfs).
  return !is_device() && fstatfs(descriptor_, &facts) == 0 &&
         (facts.f_type == TMPFS_MAGIC || facts.f_type == RAMFS_MAGIC);
}

}  // namespace remora
