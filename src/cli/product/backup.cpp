#include "cli/product/backup.h"

#include <fmt/core.h>

#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "base/size_text.h"
#include "cli/exit_status.h"
#include "cli/product/part_file.h"
#include "cli/progress.h"
#include "kv/log/store_writer.h"
#include "pmem/pool_file.h"

namespace remora::cli {
namespace {

// A store that needs the room of what is copied ends the copy, which then begins again.
constexpr int most_tries = 20;
constexpr std::uint64_t between_tries_ns = 100'000'000;

class WritingSink final : public kv::CopySink {
 public:
  explicit WritingSink(kv::StoreWriter& writer) : writer_(writer) {}
  void begin(std::uint64_t size_bytes) override {
    progress_.emplace("backup", "bytes", size_bytes);
  }
  Status object(const kv::ReadObject& object) override {
    REMORA_TRY(writer_.add(object));
    progress_->show(writer_.size_bytes());
    return {};
  }

 private:
  kv::StoreWriter& writer_;
  std::optional<Progress> progress_;
};

struct Copied {
  std::uint64_t objects = 0;
  std::uint64_t size_bytes = 0;
};

// One try: the copy is in the file, and persistent, or there is no file.
Result<Copied> copy_once(Connection& store, PartFile& part, std::uint64_t pool_bytes) {
  Result<PoolFile> file = PoolFile::create(part.path(), pool_bytes, Media::automatic);
  if (file.code() == Code::already_exists) {
    return Status(Code::already_exists, part.path() +
                                            " is there: another backup is under way, or was "
                                            "interrupted; remove it in the latter case");
  }
  if (!file.ok()) {
    return file.status();
  }
  part.made();
  Result<std::unique_ptr<kv::StoreWriter>> writer =
      kv::StoreWriter::create(store.host(&file->region()), file->pool(), store.engine().name());
  if (!writer.ok()) {
    return writer.status();
  }
  WritingSink sink(**writer);
  Status status = store.copy(sink);
  status = status.ok() ? (*writer)->finish() : status;
  if (status.code() == Code::no_space) {
    return Status(Code::no_space, "the copy does not fit a pool of " + format_size(pool_bytes) +
                                      "; choose a larger --size");
  }
  if (!status.ok()) {
    return status;
  }
  return Copied{(*writer)->objects(), (*writer)->size_bytes()};
}

// Opens it as anybody will, in a view of its own, and looks at every byte.
Status check_copy(Connection& store, const std::string& path, std::uint64_t objects) {
  Result<PoolFile> file = PoolFile::inspect(path);
  if (!file.ok()) {
    return file.status();
  }
  REMORA_TRY(file->pool().check_in_full());
  std::uint64_t whole = 0;
  const Result<std::unique_ptr<kv::Log>> log =
      kv::Log::recover(store.host(&file->region()), file->pool(), {.engine = store.engine().name()},
                       [&](const kv::Object& object) {
                         whole += object.kind() == kv::Kind::tombstone || object.intact() ? 1u : 0u;
                       });
  if (!log.ok()) {
    return log.status();
  }
  return whole == objects
             ? Status()
             : Status(Code::damaged, fmt::format("of {} versions that were written to {}, {} are "
                                                 "there; is the disk sound?",
                                                 objects, path, whole));
}

Result<std::uint64_t> size_for(Connection& store, const BackupArguments& arguments) {
  if (!arguments.size.empty()) {
    return parse_size(arguments.size);
  }
  const Result<server::Facts> facts = store.stat();
  if (!facts.ok()) {
    return facts.status();
  }
  const std::string text = server::find_fact(*facts, "pool_bytes").value_or("");
  std::uint64_t size_bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size_bytes);
  if (error != std::errc() || end != text.data() + text.size()) {
    return Status(Code::closed, "the store does not tell the size of its pool; name a --size");
  }
  return size_bytes;
}

}  // namespace

int backup_command(const ConnectArguments& where, const BackupArguments& arguments) {
  std::error_code unknown;
  if (std::filesystem::exists(arguments.to, unknown)) {
    return fail(Status(Code::already_exists,
                       arguments.to + " is there already; choose another name, or remove it"));
  }
  const Result<std::unique_ptr<Connection>> connection = Connection::open(where);
  if (!connection.ok()) {
    return fail(connection.status());
  }
  Connection& store = **connection;
  const Result<std::uint64_t> pool_bytes = size_for(store, arguments);
  if (!pool_bytes.ok()) {
    return fail(pool_bytes.status());
  }
  PartFile part(arguments.to);
  Result<Copied> copied = copy_once(store, part, *pool_bytes);
  for (int tries = 1; copied.code() == Code::in_use && tries < most_tries; ++tries) {
    part.remove();
    store.rest(between_tries_ns);
    copied = copy_once(store, part, *pool_bytes);
  }
  if (copied.code() == Code::in_use) {
    return fail(
        Status(Code::in_use, fmt::format("{}; try again when less is written, or give the store a "
                                         "larger pool",
                                         copied.status().message())));
  }
  Status status = copied.ok() ? check_copy(store, part.path(), copied->objects) : copied.status();
  status = status.ok() ? part.keep() : status;
  if (!status.ok()) {
    return fail(status);
  }
  fmt::print("{}: {} versions in {}, checked\n", arguments.to, copied->objects,
             format_size(copied->size_bytes));
  return exit_kept;
}

}  // namespace remora::cli
