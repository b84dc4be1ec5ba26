// remora pool salvage: what is whole of a damaged store, in a pool of its own. The old one is
// opened for reading alone.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/size_text.h"
#include "cli/escaped.h"
#include "cli/exit_status.h"
#include "cli/json_output.h"
#include "cli/offline_host.h"
#include "cli/pool_commands.h"
#include "cli/pool_view.h"
#include "cli/product/part_file.h"
#include "kv/log/store_writer.h"
#include "runtime/progress.h"

namespace remora::cli {
namespace {

constexpr std::string_view salvaged_engine = "efactory";

Result<kv::Survey> find_store(PoolView& from, const std::string& path) {
  kv::Survey survey = kv::survey_store(from.bytes(), from.pool());
  if (!survey.has_store) {
    return from.file ? Status(Code::not_found, path + " holds no store") : from.refusal;
  }
  if (survey.engine != salvaged_engine) {
    return Status(Code::unsupported,
                  fmt::format("{} holds a store of the engine {}; only those of {} can be saved",
                              path, escaped(survey.engine), salvaged_engine));
  }
  return survey;
}

// All of them, persistent.
Status write_store(PoolFile& to, Bytes from, std::vector<Offset> whole) {
  OfflineHost offline;
  REMORA_TRY_RESULT(writer,
                    kv::StoreWriter::create(offline.host(to.region()), to.pool(), salvaged_engine));
  std::ranges::sort(whole);
  Progress progress("salvage", "keys", whole.size());
  for (const Offset offset : whole) {
    const std::optional<kv::ReadObject> object = kv::ReadObject::parse(from.subspan(offset));
    REMORA_CHECK(object, "the survey has seen an object there");
    REMORA_TRY((*writer)->add(*object));
    progress.show((*writer)->objects());
  }
  return (*writer)->finish();
}

// As anybody will find it.
Status check_saved(const std::string& path, std::uint64_t keys) {
  REMORA_TRY_RESULT(file, PoolFile::inspect(path));
  REMORA_TRY(file->pool().check_in_full());
  const kv::Survey survey = kv::survey_store(file->region().bytes(), &file->pool());
  return survey.findings.empty() && survey.keys == keys
             ? Status()
             : Status(Code::damaged,
                      fmt::format("of {} keys that were written to {}, {} are there; "
                                  "is the disk sound?",
                                  keys, path, survey.whole.size()));
}

Status save(PoolView& from, const kv::Survey& survey, const PoolArguments& arguments,
            std::uint64_t pool_bytes, Media media) {
  PartFile part(arguments.to);
  {
    REMORA_TRY_RESULT(to, PoolFile::create(part.path(), pool_bytes, media));
    part.made();
    Status status = write_store(*to, from.bytes(), survey.whole);
    if (status.code() == Code::no_space) {
      return Status(Code::no_space, "what is whole does not fit a pool of " +
                                        format_size(pool_bytes) + "; choose a larger --size");
    }
    if (!status.ok()) {
      return status;
    }
  }
  REMORA_TRY(check_saved(part.path(), survey.whole.size()));
  return part.keep();
}

int tell(const PoolArguments& arguments, const PoolView& from, const kv::Survey& survey) {
  std::vector<std::string> findings;
  if (!from.file) {
    findings.emplace_back(from.refusal.message());
    for (const PoolFinding& finding : from.findings) {
      findings.push_back(fmt::format("{} (at {})", finding.what, finding.place));
    }
  }
  for (const kv::Finding& finding : survey.findings) {
    findings.push_back(finding_text(finding));
  }
  if (survey.by_objects_alone) {
    findings.emplace_back(
        "versions were found by their checksums alone: keys that were deleted may be "
        "back");
  }
  const bool is_all = findings.empty();
  if (arguments.json) {
    nlohmann::ordered_json damaged = nlohmann::ordered_json::array();
    for (const kv::Finding& finding : survey.findings) {
      if (finding.what == kv::Finding::What::value) {
        damaged.push_back(escaped(finding.key));
      }
    }
    print_json({{"from", arguments.path},
                {"to", arguments.to},
                {"saved_keys", survey.whole.size()},
                {"damaged_keys", std::move(damaged)},
                {"whole", is_all},
                {"findings", findings}});
  } else {
    for (const std::string& finding : findings) {
      fmt::print("lost: {}\n", finding);
    }
    fmt::print("{}: {} keys saved, checked; {} are damaged\n", arguments.to, survey.whole.size(),
               survey.damaged_keys);
  }
  return is_all ? exit_kept : exit_broken;
}

}  // namespace

int salvage_pool(const PoolArguments& arguments) {
  std::error_code unknown;
  if (std::filesystem::exists(arguments.to, unknown)) {
    return fail(Status(Code::already_exists,
                       arguments.to + " exists already; choose another name, or remove it"));
  }
  const Result<Media> media = parse_media(arguments.media);
  if (!media.ok()) {
    return fail(media.status());
  }
  Result<PoolView> from = PoolView::open(arguments.path);
  if (!from.ok()) {
    return fail(from.status());
  }
  const Result<std::uint64_t> size_bytes = arguments.salvage_size.empty()
                                               ? Result<std::uint64_t>(from->bytes().size())
                                               : parse_size(arguments.salvage_size);
  if (!size_bytes.ok()) {
    return fail(size_bytes.status());
  }
  const Result<kv::Survey> survey = find_store(*from, arguments.path);
  if (!survey.ok()) {
    return fail(survey.status());
  }
  if (const Status status = save(*from, *survey, arguments, *size_bytes, *media); !status.ok()) {
    return fail(status);
  }
  return tell(arguments, *from, *survey);
}

}  // namespace remora::cli
