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
#include "kv/log/store_writer.h"
#include "library/store_parts.h"
#include "pmem/pool_file.h"
#include "runtime/progress.h"

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

// The engine's client, which can copy, and what works on the memory of the new pool.
kv::StoreClient& client_of(Store& store) {
  return StoreParts::of(store).link->store();
}
Host host_for(Store& store, PoolFile& file) {
  const Host own = StoreParts::of(store).link->host();
  return Host(own.runtime(), own.device(), &file.region());
}
std::string engine_of(Store& store) {
  return std::string(StoreParts::of(store).link->engine().name());
}

struct Copied {
  std::uint64_t objects = 0;
  std::uint64_t size_bytes = 0;
};

// One try: the copy is in the file, and persistent, or there is no file.
Result<Copied> copy_once(Store& store, PartFile& part, std::uint64_t pool_bytes) {
  Result<PoolFile> file = PoolFile::create(part.path(), pool_bytes, Media::automatic);
  if (file.code() == Code::already_exists) {
    return Status(Code::already_exists, part.path() +
                                            " exists: another backup is running, or one was "
                                            "interrupted; if none is running, remove this file");
  }
  REMORA_TRY(file.status());
  part.made();
  REMORA_TRY_RESULT(
      writer, kv::StoreWriter::create(host_for(store, *file), file->pool(), engine_of(store)));
  WritingSink sink(**writer);
  Status status = StoreParts::of(store).loop.block_on(client_of(store).copy(sink));
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
Status check_copy(Store& store, const std::string& path, std::uint64_t objects) {
  REMORA_TRY_RESULT(file, PoolFile::inspect(path));
  REMORA_TRY(file->pool().check_in_full());
  std::uint64_t whole = 0;
  const Result<std::unique_ptr<kv::Log>> log =
      kv::Log::recover(host_for(store, *file), file->pool(), {.engine = engine_of(store)},
                       [&](const kv::Object& object) {
                         whole += object.kind() == kv::Kind::tombstone || object.intact() ? 1u : 0u;
                       });
  REMORA_TRY(log.status());
  return whole == objects
             ? Status()
             : Status(Code::damaged, fmt::format("of {} versions that were written to {}, {} are "
                                                 "there; is the disk sound?",
                                                 objects, path, whole));
}

Result<std::uint64_t> size_for(Store& store, const BackupArguments& arguments) {
  if (!arguments.size.empty()) {
    return parse_size(arguments.size);
  }
  const Expected<Facts> facts = store.facts();
  if (!facts) {
    return to_status(facts.error());
  }
  const std::string text = find_fact(*facts, "pool_bytes").value_or("");
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
                       arguments.to + " exists already; choose another name, or remove it"));
  }
  Expected<Store> opened = open_store(where);
  if (!opened) {
    return fail(opened.error());
  }
  Store& store = *opened;
  const Result<std::uint64_t> pool_bytes = size_for(store, arguments);
  if (!pool_bytes.ok()) {
    return fail(pool_bytes.status());
  }
  PartFile part(arguments.to);
  Result<Copied> copied = copy_once(store, part, *pool_bytes);
  for (int tries = 1; copied.code() == Code::in_use && tries < most_tries; ++tries) {
    part.remove();
    store.run_for(between_tries_ns);
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
