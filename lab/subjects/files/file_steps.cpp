// What programs do with files, by chance.
#include <sys/stat.h>

#include <algorithm>

#include "lab/subjects/files/file_life.h"

namespace remora::lab {

using file::Outcome;
using file::Receipt;

namespace {

constexpr std::size_t most_files = 14;
constexpr std::uint64_t largest_file = 60'000;

file::Rename how_of(PosixRename how) {
  return how == PosixRename::replace      ? file::Rename::replace
         : how == PosixRename::no_replace ? file::Rename::no_replace
                                          : file::Rename::exchange;
}

Outcome<Receipt> receipt_of(const Outcome<file::Made>& made) {
  return made.ok() ? Outcome<Receipt>(made->receipt) : Outcome<Receipt>(made.failure());
}

// Words that tell by themselves in which write they were made.
std::string stamped(std::uint64_t stamp, std::uint64_t offset, std::uint64_t size) {
  std::string text(size, '\0');
  for (std::uint64_t i = 0; i < size; ++i) {
    const std::uint64_t word = mix(stamp * 1'000'003 + (offset + i) / 8);
    text[i] = static_cast<char>(word >> ((offset + i) % 8 * 8) | 1);
  }
  return text;
}

}  // namespace

int FileLife::any_directory() {
  const std::vector<int> ids = now().of_kind(PosixKind::directory);
  return ids[random_.below(ids.size())];
}

int FileLife::any_file() {
  const std::vector<int> ids = now().of_kind(PosixKind::file);
  return ids.empty() ? -1 : ids[random_.below(ids.size())];
}

std::string FileLife::any_name() {
  const auto which = static_cast<char>('a' + random_.below(7));
  return which == 'g' ? std::string(255, 'g') : std::string(1, which);
}

// Whether ENOSPC is what can be expected.
bool FileLife::is_full() const {
  return pool_->usage().free_bytes < (160 << 10);
}

std::optional<Broken> FileLife::step() {
  settle();
  const std::uint64_t die = random_.below(42);
  if (die < 6) {
    return make_something();
  }
  if (die < 10) {
    return remove_something();
  }
  if (die < 14) {
    return rename_something();
  }
  if (die < 16) {
    return change_attributes();
  }
  if (die < 24) {
    return write();
  }
  if (die < 27) {
    return truncate();
  }
  if (die < 28) {
    return random_.chance(1, 2) ? allocate() : defragment();
  }
  if (die < 30) {
    return punch();
  }
  if (die < (syncs_ ? 37 : 34)) {
    return fsync();
  }
  if (die < 38) {
    return hold_or_release();
  }
  if (die < 39) {
    return compare();
  }
  return die == 39 && random_.chance(1, 6) ? restart() : commit_something();
}

std::optional<Broken> FileLife::names(const std::string& what, const ModelOp& model,
                                      const FileOp& op) {
  auto after = std::make_shared<PosixTree>(now());
  after->begin_ids(shared_.next_id);
  const int expected = model(*after);
  if (expected == 0) {
    pending_.push_back({after, std::nullopt});
    shared_.next_id = std::max(shared_.next_id, after->last_made() + 1);
  }
  const Outcome<Receipt> receipt = op();
  if (receipt.error() == ENOSPC && is_full()) {
    if (expected == 0) {
      pending_.pop_back();
    }
    return std::nullopt;
  }
  if (receipt.error() != expected) {
    if (expected == 0) {
      pending_.pop_back();
    }
    return Broken{"errors are POSIX's", what + " gave " + std::to_string(receipt.error()) +
                                            ", expected " + std::to_string(expected) +
                                            volume_->damage()};
  }
  if (expected == 0) {
    pending_.back().receipt = *receipt;
    std::erase_if(numbers_, [&](const auto& each) {
      return !after->has(each.first) && !held_.contains(each.first);
    });
  }
  return std::nullopt;
}

std::optional<Broken> FileLife::make_something() {
  const int directory = any_directory();
  const std::string name = any_name();
  const std::uint64_t die = random_.below(10);
  const bool many = now().paths().size() >= most_files;
  if (die == 9 || many) {
    const int file = any_file();
    if (file < 0) {
      return std::nullopt;
    }
    return names(
        "link", [&](PosixTree& tree) { return tree.link(file, directory, name); },
        [&] { return volume_->link(caller(), number(file), number(directory), name); });
  }
  const PosixKind kind = die < 5   ? PosixKind::file
                         : die < 8 ? PosixKind::directory
                                   : PosixKind::link;
  const std::uint32_t mode = kind == PosixKind::link ? 0777 : 0640;
  const std::string target =
      kind == PosixKind::link ? std::string(random_.between(1, 300), 't') : "";
  const int id = shared_.next_id;
  const file::Caller who = caller();
  file::Number made_number = 0;
  const auto make = [&] {
    const auto made = kind == PosixKind::file ? volume_->create(who, number(directory), name, mode)
                      : kind == PosixKind::directory
                          ? volume_->make_directory(who, number(directory), name, mode)
                          : volume_->symlink(who, number(directory), name, target);
    made_number = made->number;
    return receipt_of(made);
  };
  contents_[id] = FileContents();
  const std::optional<Broken> broken = names(
      "make",
      [&](PosixTree& tree) { return tree.make(directory, name, kind, mode, target, who.now_ns); },
      make);
  if (!broken && now().has(id)) {
    numbers_[id] = made_number;
  } else {
    contents_.erase(id);
  }
  return broken;
}

std::optional<Broken> FileLife::remove_something() {
  const int directory = any_directory();
  const std::string name = any_name();
  if (random_.chance(1, 4)) {
    return names(
        "rmdir", [&](PosixTree& tree) { return tree.remove_directory(directory, name); },
        [&] { return volume_->remove_directory(caller(), number(directory), name); });
  }
  return names(
      "unlink", [&](PosixTree& tree) { return tree.unlink(directory, name); },
      [&] { return volume_->unlink(caller(), number(directory), name); });
}

std::optional<Broken> FileLife::rename_something() {
  const int from = any_directory();
  const int to = random_.chance(1, 3) ? from : any_directory();
  const std::string old_name = any_name();
  const std::string new_name = any_name();
  const std::uint64_t die = random_.below(6);
  const PosixRename how = die == 0   ? PosixRename::no_replace
                          : die == 1 ? PosixRename::exchange
                                     : PosixRename::replace;
  return names(
      "rename", [&](PosixTree& tree) { return tree.rename(from, old_name, to, new_name, how); },
      [&] {
        return volume_->rename(caller(), number(from), old_name, number(to), new_name, how_of(how));
      });
}

std::optional<Broken> FileLife::change_attributes() {
  const int id = random_.chance(1, 3) || any_file() < 0 ? any_directory() : any_file();
  const std::string name = std::string("user.") + static_cast<char>('x' + random_.below(3));
  switch (random_.below(4)) {
    case 0: {
      const auto mode = static_cast<std::uint32_t>(0700 | random_.below(0100));
      return names(
          "chmod", [&](PosixTree& tree) { return tree.change_mode(id, mode); },
          [&] { return volume_->change_attributes(caller(), number(id), {.mode = mode}); });
    }
    case 1: {
      const auto owner = static_cast<std::uint32_t>(random_.below(5));
      return names(
          "chown", [&](PosixTree& tree) { return tree.change_owner(id, owner, owner + 1); },
          [&] {
            return volume_->change_attributes(caller(), number(id),
                                              {.uid = owner, .gid = owner + 1});
          });
    }
    case 2:
      return names(
          "removexattr", [&](PosixTree& tree) { return tree.remove_attribute(id, name); },
          [&] { return volume_->remove_attribute(caller(), number(id), name); });
    default: {
      const std::string value(random_.below(600), static_cast<char>('a' + random_.below(26)));
      return names(
          "setxattr", [&](PosixTree& tree) { return tree.set_attribute(id, name, value); },
          [&] { return volume_->set_attribute(caller(), number(id), name, value); });
    }
  }
}

// What changes the bytes of one file. While it is under way a cut may leave either version.
std::optional<Broken> FileLife::bytes(int id, const std::string& what, std::string after,
                                      const std::function<int()>& op) {
  FileContents& contents = contents_[id];
  contents.add(std::move(after));
  const int error = op();
  if (error == 0) {
    return std::nullopt;
  }
  contents.take_back();
  if (error == ENOSPC && is_full()) {
    return std::nullopt;
  }
  return Broken{"errors are POSIX's",
                what + " gave " + std::to_string(error) + " " + volume_->damage()};
}

std::optional<Broken> FileLife::write() {
  const int id = any_file();
  if (id < 0) {
    return std::nullopt;
  }
  const std::string before = contents_[id].now();
  const std::uint64_t die = random_.below(10);
  const std::uint64_t offset = die < 5   ? before.size()
                               : die < 8 ? random_.below(before.size() + 1)
                                         : random_.below(largest_file);
  const std::uint64_t size = random_.between(1, crowded_ || random_.chance(1, 5) ? 14'000 : 900);
  const std::string text = stamped(++shared_.now_ns, offset, size);
  std::string after = before;
  after.resize(std::max<std::size_t>(after.size(), offset + size), '\0');
  after.replace(offset, size, text);
  FileContents& contents = contents_[id];
  contents.add(after);
  const auto written = volume_->write(caller(), number(id), offset, as_bytes(text));
  if (written.ok() && written->bytes == size) {
    return std::nullopt;
  }
  // A pool that becomes full on the way leaves a shorter write. What it would have written behind
  // that may be there as well, as far as it lies in blocks that were there.
  contents.take_back();
  if (written.ok() && is_full()) {
    after = before;
    after.resize(std::max<std::size_t>(after.size(), offset + written->bytes), '\0');
    after.replace(offset, written->bytes, text.substr(0, written->bytes));
    contents.add(after);
    return std::nullopt;
  }
  if (written.error() == ENOSPC && is_full()) {
    return std::nullopt;
  }
  return Broken{"errors are POSIX's",
                "write gave " + std::to_string(written.error()) + " " + volume_->damage()};
}

std::optional<Broken> FileLife::truncate() {
  const int id = any_file();
  if (id < 0) {
    return std::nullopt;
  }
  std::string after = contents_[id].now();
  const std::uint64_t size =
      random_.chance(1, 3) ? random_.below(largest_file) : random_.below(after.size() + 1);
  after.resize(size, '\0');
  return bytes(id, "truncate", after,
               [&] { return volume_->truncate(caller(), number(id), size).error(); });
}

std::optional<Broken> FileLife::punch() {
  const int id = any_file();
  if (id < 0 || contents_[id].now().empty()) {
    return std::nullopt;
  }
  std::string after = contents_[id].now();
  const std::uint64_t offset = random_.below(after.size());
  const std::uint64_t size = random_.between(1, 20'000);
  const std::uint64_t inside = std::min<std::uint64_t>(size, after.size() - offset);
  after.replace(offset, inside, inside, '\0');
  return bytes(id, "punch", after,
               [&] { return volume_->punch(caller(), number(id), offset, size).error(); });
}

std::optional<Broken> FileLife::allocate() {
  const int id = any_file();
  if (id < 0) {
    return std::nullopt;
  }
  std::string after = contents_[id].now();
  const std::uint64_t offset = random_.below(after.size() + 1);
  const std::uint64_t size = random_.between(1, 20'000);
  const bool keep = random_.chance(1, 2);
  after.resize(keep ? after.size() : std::max<std::size_t>(after.size(), offset + size), '\0');
  roomy_.insert(id);
  return bytes(id, "allocate", after,
               [&] { return volume_->allocate(caller(), number(id), offset, size, keep).error(); });
}

std::optional<Broken> FileLife::defragment() {
  const int id = any_file();
  if (id < 0) {
    return std::nullopt;
  }
  const auto moved = volume_->defragment(number(id), 20);
  return moved.ok() || (moved.error() == ENOSPC && is_full())
             ? std::nullopt
             : std::optional(Broken{"usable", "defragmenting failed: " + volume_->damage()});
}

std::optional<Broken> FileLife::fsync() {
  const int id = any_file();
  if (id < 0) {
    return std::nullopt;
  }
  const auto receipt = volume_->fsync(number(id));
  if (!receipt.ok()) {
    return receipt.error() == ENOSPC && is_full()
               ? std::nullopt
               : std::optional(Broken{"usable", "fsync failed: " + volume_->damage()});
  }
  pending_syncs_.push_back({id, contents_[id].version(), *receipt});
  if (random_.chance(1, 2) && !volume_->wait(*receipt).ok()) {
    return is_full() ? std::nullopt : std::optional(Broken{"usable", "waiting failed"});
  }
  return std::nullopt;
}

std::optional<Broken> FileLife::hold_or_release() {
  if (!held_.empty() && random_.chance(1, 2)) {
    const auto [id, held] = *held_.begin();
    held_.erase(held_.begin());
    const int error = volume_->release(held).error();
    return error == 0 || (error == ENOSPC && is_full())
               ? std::nullopt
               : std::optional(Broken{"usable", "release gave " + std::to_string(error)});
  }
  const int id = any_file();
  if (id < 0 || held_.contains(id) || held_.size() > 3) {
    return std::nullopt;
  }
  held_[id] = number(id);
  return volume_->hold(number(id)).ok() ? std::nullopt
                                        : std::optional(Broken{"usable", "hold failed"});
}

std::optional<Broken> FileLife::commit_something() {
  if (random_.chance(1, 4)) {
    volume_->tend();
    return std::nullopt;
  }
  if (memory_.platform().granularity == Granularity::page && random_.chance(2, 3)) {
    memory_.commit_running() ? memory_.finish_commit() : memory_.start_commit();
    return std::nullopt;
  }
  return volume_->wait(*pending_.back().receipt).ok()
             ? std::nullopt
             : std::optional(Broken{"usable", "waiting failed"});
}

// What is visible is what was written, also in files that have no name any more.
std::optional<Broken> FileLife::compare() {
  std::map<std::string, file::Number> found;
  std::optional<Broken> broken;
  const std::string text = describe(found, broken);
  if (broken) {
    return broken;
  }
  if (text != now().describe()) {
    return Broken{"visible", "names are not what was made of them"};
  }
  for (const auto& [id, held] : held_) {
    const std::string bytes = read_all(held, broken);
    if (broken) {
      return broken;
    }
    if (bytes != contents_[id].now()) {
      return Broken{"open files live on", "a file without a name lost its bytes"};
    }
  }
  broken = check_contents(false);
  return broken ? broken : check_volume();
}

std::optional<Broken> FileLife::restart() {
  if (!volume_->close().ok()) {
    return is_full() ? std::nullopt : std::optional(Broken{"usable", "closing failed"});
  }
  held_.clear();
  volume_.reset();
  if (!pool_->close().ok()) {
    return Broken{"usable", "closing the pool failed"};
  }
  pending_.erase(pending_.begin(), pending_.end() - 1);
  pending_.back().receipt = Receipt{};
  pending_syncs_.clear();
  for (const auto& [id, path] : now().paths()) {
    contents_[id] = FileContents(contents_[id].now());
  }
  // The images of a cut from here on are judged by what recover() is told.
  expected_ = ExpectedFiles{false, {pending_.back().tree}, contents_, roomy_};
  pending_.clear();
  pool_.reset();
  return recover();
}

void FileLife::settle() {
  std::size_t newest = 0;
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    if (pending_[i].receipt && memory_.persistent(pending_[i].receipt->ticket)) {
      newest = i;
    }
  }
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(newest));
  std::erase_if(pending_syncs_, [this](const Sync& sync) {
    if (!volume_->persistent(sync.receipt)) {
      return false;
    }
    contents_[sync.id].synced(sync.version);
    return true;
  });
}

}  // namespace remora::lab
