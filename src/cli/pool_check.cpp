// remora pool check: the pool's structures, and the store in it, every byte that has a checksum.
#include <fmt/core.h>

#include <vector>

#include "cli/escaped.h"
#include "cli/exit_status.h"
#include "cli/json_output.h"
#include "cli/pool_commands.h"
#include "cli/pool_view.h"

namespace remora::cli {
namespace {

nlohmann::ordered_json json_of(const kv::Survey& survey) {
  nlohmann::ordered_json damaged = nlohmann::ordered_json::array();
  for (const kv::Finding& finding : survey.findings) {
    if (finding.what == kv::Finding::What::value) {
      damaged.push_back({{"key", escaped(finding.key)},
                         {"place", finding.place},
                         {"size_bytes", finding.size_bytes}});
    }
  }
  return {{"engine", escaped(survey.engine)},
          {"segments", survey.segments},
          {"versions", survey.versions},
          {"behind_marks", survey.behind_marks},
          {"keys", survey.keys},
          {"damaged_keys", std::move(damaged)},
          {"values_verified", !survey.unverified}};
}

void print_store(const kv::Survey& survey) {
  fmt::print("store        {}: {} keys, {} versions in {} segments, {} behind the marks\n",
             escaped(survey.engine), survey.keys, survey.versions, survey.segments,
             survey.behind_marks);
  if (survey.unverified) {
    fmt::print("values       not verified: this engine keeps no checksum of them\n");
  }
}

}  // namespace

std::string finding_text(const kv::Finding& finding) {
  const std::string place = fmt::format("at {}, {} bytes", finding.place, finding.size_bytes);
  switch (finding.what) {
    case kv::Finding::What::value:
      return fmt::format("key {}: {} ({})", escaped(finding.key), finding.text, place);
    case kv::Finding::What::header:
      return fmt::format("{} ({}): any key may have lost its newest version", finding.text, place);
    case kv::Finding::What::superblock:
      break;
  }
  return fmt::format("{} ({})", finding.text, place);
}

int check_pool(const PoolArguments& arguments) {
  // A file that is no pool, or that cannot be read, was not checked: that is another status than a
  // pool that was checked and found wanting.
  if (Status status = PoolFile::verify(arguments.path); !status.ok()) {
    return fail(status);
  }
  Result<PoolView> opened = PoolView::open(arguments.path);
  if (!opened.ok()) {
    return fail(opened.status());
  }
  std::vector<std::string> findings;
  Status verdict = opened->file ? opened->file->pool().check_in_full() : opened->refusal;
  if (!verdict.ok()) {
    findings.emplace_back(verdict.message());
  }
  const kv::Survey survey = kv::survey_store(opened->bytes(), opened->pool());
  for (const kv::Finding& finding : survey.findings) {
    findings.push_back(finding_text(finding));
  }
  const bool sound = findings.empty();
  if (arguments.json) {
    nlohmann::ordered_json json =
        opened->file ? pool_json(*opened->file) : nlohmann::ordered_json{{"path", arguments.path}};
    if (survey.has_store) {
      json["store"] = json_of(survey);
    }
    json["sound"] = sound;
    json["findings"] = findings;
    print_json(json);
    return sound ? exit_kept : exit_broken;
  }
  if (opened->file) {
    print_pool(*opened->file);
  }
  if (survey.has_store) {
    print_store(survey);
  }
  for (const std::string& finding : findings) {
    fmt::print("damaged: {}\n", finding);
  }
  if (sound) {
    fmt::print("sound: header, log, block table and roots agree{}\n",
               survey.has_store ? ", and every value is what was put" : "");
  }
  return sound ? exit_kept : exit_broken;
}

}  // namespace remora::cli
