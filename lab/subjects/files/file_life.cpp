// A life's power-on, creation and recovery, and what it holds files to.
#include "lab/subjects/files/file_life.h"

#include <sys/stat.h>

#include <algorithm>

namespace remora::lab {

using file::DirectoryEntry;
using file::Number;
using file::Receipt;

namespace {

Broken unusable(const std::string& what, std::string_view why) {
  return {"usable", what + " failed: " + std::string(why)};
}

char kind_of(std::uint32_t mode) {
  return S_ISDIR(mode) ? 'd' : S_ISLNK(mode) ? 'l' : 'f';
}

// The first line in which two descriptions differ.
std::string difference(const std::string& found, const std::string& expected) {
  std::size_t at = 0;
  while (at < found.size() && at < expected.size() && found[at] == expected[at]) {
    ++at;
  }
  const auto line = [at](const std::string& text) {
    const std::size_t before = at == 0 ? text.npos : text.rfind('\n', at - 1);
    const std::size_t begin = before == text.npos ? 0 : before + 1;
    return begin < text.size() ? text.substr(begin, text.find('\n', begin) - begin)
                               : std::string("nothing");
  };
  return "found " + line(found) + ", expected " + line(expected);
}

}  // namespace

FileLife::FileLife(SiteTable& sites, Shared& shared)
    : shared_(shared), memory_(pool_bytes, Platform{}, Random(0), &sites) {}

void FileLife::power_on(ConstBytes image, const Platform& platform, const Faults& faults,
                        const ExpectedFiles& expected, Random random) {
  volume_.reset();
  pool_.reset();
  region_.reset();
  expected_ = expected;
  memory_.restart(image, platform, random.fork());
  region_.emplace(memory_);
  random_ = random.fork();
  faults_ = faults;
  creating_ = false;
  pending_.clear();
  pending_syncs_.clear();
  contents_.clear();
  numbers_.clear();
  roomy_.clear();
  held_.clear();
  crowded_ = random_.chance(1, 4);
  syncs_ = random_.chance(1, 3);
}

ExpectedFiles FileLife::expectation() const {
  if (creating_) {
    return {true, {created_}, {}, {}};
  }
  if (pending_.empty()) {
    return expected_;
  }
  ExpectedFiles expected;
  std::size_t newest = 0;
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    if (pending_[i].receipt && memory_.persistent(pending_[i].receipt->ticket)) {
      newest = i;
    }
  }
  for (std::size_t i = newest; i < pending_.size(); ++i) {
    expected.trees.push_back(pending_[i].tree);
  }
  expected.contents = contents_;
  for (const Sync& sync : pending_syncs_) {
    if (volume_ != nullptr && volume_->persistent(sync.receipt)) {
      expected.contents[sync.id].synced(sync.version);
    }
  }
  expected.roomy = roomy_;
  return expected;
}

std::optional<Broken> FileLife::create() {
  const file::Caller who = caller();
  created_ = std::make_shared<const PosixTree>(0755, who.now_ns);
  creating_ = true;
  Result<std::unique_ptr<Pool>> pool = Pool::create(*region_, {});
  if (!pool.ok()) {
    return unusable("creating the pool", pool.status().message());
  }
  pool_ = std::move(pool).value();
  file::VolumeOptions options;
  options.hash_seed = random_.next();
  if (random_.chance(2, 3)) {
    options.limits = {file::smallest_nodes.leaf_bytes, 256};
  }
  Result<std::unique_ptr<file::Volume>> volume = file::Volume::make(*pool_, who, options, faults_);
  if (!volume.ok()) {
    return unusable("making files", volume.status().message());
  }
  volume_ = std::move(volume).value();
  if (!volume_->sync().ok()) {
    return unusable("syncing", "the volume");
  }
  creating_ = false;
  pending_.push_back({created_, Receipt{}});
  numbers_[0] = volume_->root();
  return std::nullopt;
}

void FileLife::describe_below(Number number, const std::string& path,
                              std::map<Number, std::string>& first,
                              std::map<std::string, Number>& found, std::string& text,
                              std::optional<Broken>& broken) {
  const auto attributes = volume_->attributes(number);
  const auto names = volume_->attribute_names(number);
  if (!attributes.ok() || !names.ok()) {
    broken = Broken{"readable", path + " cannot be read: " + volume_->damage()};
    return;
  }
  std::map<std::string, std::string> values;
  for (const std::string& name : *names) {
    values[name] = *volume_->attribute(caller(), number, name);
  }
  const char kind = kind_of(attributes->mode);
  const std::string target = kind == 'l' ? *volume_->read_link(number) : "";
  found[path] = number;
  const std::string same = first.emplace(number, path).first->second;
  text += describe_line(path, kind, attributes->mode & 07777, attributes->uid, attributes->gid,
                        attributes->links, attributes->born_ns, same, target, values);
  if (kind != 'd') {
    return;
  }
  std::map<std::string, Number> entries;
  const file::Errno listed =
      volume_->read_directory(caller(), number, 2, [&entries](const DirectoryEntry& entry) {
        entries[entry.name] = entry.number;
        return true;
      });
  if (!listed.ok()) {
    broken = Broken{"readable", path + " cannot be listed: " + volume_->damage()};
  }
  for (const auto& [name, entry] : entries) {
    if (!broken) {
      describe_below(entry, path + "/" + name, first, found, text, broken);
    }
  }
}

std::string FileLife::describe(std::map<std::string, Number>& found,
                               std::optional<Broken>& broken) {
  std::map<Number, std::string> first;
  std::string text;
  describe_below(volume_->root(), "", first, found, text, broken);
  return text;
}

void FileLife::take_numbers(const PosixTree& tree, const std::map<std::string, Number>& found) {
  numbers_.clear();
  for (const auto& [id, path] : tree.paths()) {
    numbers_[id] = found.at(path);
  }
}

std::optional<Broken> FileLife::recover() {
  Result<std::unique_ptr<Pool>> pool = Pool::open(*region_, "the pool");
  const bool absent = pool.ok() ? !(*pool)->root(file::format::root_name).ok()
                                : load<std::uint64_t>(memory_.bytes().data()) == 0;
  if (absent && expected_.may_be_absent) {
    return std::nullopt;
  }
  if (!pool.ok()) {
    return Broken{"opens", std::string(pool.status().message())};
  }
  pool_ = std::move(pool).value();
  Result<std::unique_ptr<file::Volume>> volume = file::Volume::open(*pool_, faults_);
  if (!volume.ok()) {
    return Broken{"opens", std::string(volume.status().message())};
  }
  volume_ = std::move(volume).value();
  std::map<std::string, Number> found;
  std::optional<Broken> broken;
  const std::string text = describe(found, broken);
  if (broken) {
    volume_.reset();
    return broken;
  }
  const auto tree = std::ranges::find_if(
      expected_.trees, [&text](const SharedTree& each) { return each->describe() == text; });
  if (tree == expected_.trees.end()) {
    volume_.reset();
    return Broken{"names survive in order",
                  difference(text, expected_.trees.front()->describe()) + " or one of " +
                      std::to_string(expected_.trees.size() - 1) + " later states"};
  }
  take_numbers(**tree, found);
  contents_ = expected_.contents;
  roomy_ = expected_.roomy;
  // What was found is there for good: what is expected now is that, and nothing else.
  const SharedTree there = *tree;
  pending_.push_back({there, Receipt{}});
  broken = check_contents(true);
  if (!broken) {
    broken = check_volume();
  }
  if (broken) {
    volume_.reset();
  }
  return broken;
}

std::string FileLife::read_all(Number number, std::optional<Broken>& broken) {
  const auto attributes = volume_->attributes(number);
  if (!attributes.ok() || attributes->size > pool_bytes * 4) {
    broken = Broken{"readable", "a file has no size that can be: " + volume_->damage()};
    return "";
  }
  std::string text(attributes->size, '?');
  const auto got =
      volume_->read(number, 0, std::as_writable_bytes(std::span(text.data(), text.size())), 0);
  if (!got.ok() || *got != text.size()) {
    broken = Broken{"readable", "a file cannot be read to its end: " + volume_->damage()};
  }
  return text;
}

std::optional<Broken> FileLife::check_contents(bool recovered) {
  const std::map<int, std::string> paths = now().paths();
  for (const auto& [id, path] : paths) {
    if (now().at(id).kind != PosixKind::file) {
      continue;
    }
    std::optional<Broken> broken;
    const std::string found = read_all(number(id), broken);
    if (broken) {
      return broken;
    }
    FileContents& contents = contents_[id];
    if (!recovered) {
      if (found != contents.now()) {
        return Broken{"visible", path + " does not read as what was written"};
      }
      continue;
    }
    if (const std::optional<std::string> fault = contents.fault_of(found)) {
      return Broken{"bytes are old or new", path + " " + *fault};
    }
    contents = FileContents(found);
    const auto attributes = volume_->attributes(number(id));
    const std::uint64_t most = round_up<std::uint64_t>(found.size(), file::format::block_bytes) /
                               file::format::block_bytes;
    if (attributes->blocks > most && !roomy_.contains(id)) {
      return Broken{"long changes are resumed",
                    path + " has " + std::to_string(attributes->blocks) + " blocks for " +
                        std::to_string(found.size()) + " bytes"};
    }
  }
  return std::nullopt;
}

std::optional<Broken> FileLife::check_volume() {
  const file::CheckReport report = volume_->check();
  std::set<Number> orphans;
  for (const auto& [id, held] : held_) {
    if (!now().has(id)) {
      orphans.insert(held);
    }
  }
  if (!report.problems.empty()) {
    return Broken{"sound", report.problems.front()};
  }
  if (report.orphans != orphans.size()) {
    return Broken{"sound", std::to_string(report.orphans) + " orphans, expected " +
                               std::to_string(orphans.size())};
  }
  return std::nullopt;
}

}  // namespace remora::lab
