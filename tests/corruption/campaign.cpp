#include "tests/corruption/campaign.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/random.h"

namespace remora::corruption {
namespace {

struct Subject {
  BaseImage image;
  Anatomy anatomy;
};

std::vector<Subject> make_subjects(std::uint64_t seed) {
  std::vector<Subject> subjects;
  for (const Granularity granularity : {Granularity::cache_line, Granularity::page}) {
    for (const Ending ending : {Ending::clean_stop, Ending::kill, Ending::power_cut}) {
      BaseImage image = make_base_image(ending, granularity, mix(seed + subjects.size()));
      const Status sound = settle_truth(image);
      REMORA_CHECK(sound.ok(), std::string(sound.message()).c_str());
      Anatomy anatomy = dissect(image.bytes);
      subjects.push_back({std::move(image), std::move(anatomy)});
    }
  }
  return subjects;
}

template <typename Key>
std::string rows(std::string_view title, const std::map<Key, Counts>& counts,
                 const std::function<std::string(const Key&)>& name) {
  std::string text = fmt::format("{:18}", title);
  for (std::size_t i = 0; i < outcome_count; ++i) {
    text += fmt::format("{:>10}", to_string(static_cast<Outcome>(i)));
  }
  text += "\n";
  for (const auto& [key, row] : counts) {
    text += fmt::format("{:18}", name(key));
    for (const std::uint64_t count : row) {
      text += fmt::format("{:>10}", count == 0 ? "." : std::to_string(count));
    }
    text += "\n";
  }
  return text;
}

std::string text_of(const Case& one) {
  return fmt::format("#{} {}, {}: {}: {}{}", one.number, one.image, describe(one.damage),
                     to_string(one.verdict.outcome), one.verdict.detail,
                     one.verdict.wrong_keys > 1
                         ? fmt::format(" (and {} more keys)", one.verdict.wrong_keys - 1)
                         : "");
}

nlohmann::ordered_json json_of(const Counts& counts) {
  nlohmann::ordered_json json;
  for (std::size_t i = 0; i < outcome_count; ++i) {
    json[std::string(to_string(static_cast<Outcome>(i)))] = counts[i];
  }
  return json;
}

}  // namespace

Tally run_campaign(const CampaignOptions& options, const Told& told) {
  const std::vector<Subject> subjects = make_subjects(options.seed);
  Tally tally;
  for (std::uint64_t number = options.first; number < options.first + options.count; ++number) {
    const std::uint64_t seed = mix(mix(options.seed) ^ number);
    const Subject& subject = subjects[seed % subjects.size()];
    Case one{number, subject.image.name, choose_change(subject.anatomy, subject.image, seed), {}};
    one.verdict = judge_apart(subject.image, subject.anatomy, one.damage);
    const auto outcome = static_cast<std::size_t>(one.verdict.outcome);
    ++tally.all[outcome];
    ++tally.by_structure[one.damage.structure][outcome];
    ++tally.by_change[one.damage.change][outcome];
    ++tally.by_image[one.image][outcome];
    told(one);
    if (one.verdict.outcome >= Outcome::broken) {
      tally.bad.push_back(std::move(one));
    }
  }
  return tally;
}

std::string as_table(const Tally& tally) {
  std::string text = rows<Structure>("structure", tally.by_structure, [](const Structure& key) {
    return std::string(to_string(key));
  });
  text += "\n" + rows<Change>("change", tally.by_change,
                              [](const Change& key) { return std::string(to_string(key)); });
  text +=
      "\n" + rows<std::string>("after", tally.by_image, [](const std::string& key) { return key; });
  text += "\n" +
          rows<std::string>("", {{"all", tally.all}}, [](const std::string& key) { return key; });
  for (const Case& one : tally.bad) {
    text += text_of(one) + "\n";
  }
  return text;
}

std::string as_json(const CampaignOptions& options, const Tally& tally) {
  nlohmann::ordered_json json = {
      {"seed", options.seed}, {"count", options.count}, {"all", json_of(tally.all)}};
  for (const auto& [structure, counts] : tally.by_structure) {
    json["structures"][std::string(to_string(structure))] = json_of(counts);
  }
  for (const auto& [change, counts] : tally.by_change) {
    json["changes"][std::string(to_string(change))] = json_of(counts);
  }
  for (const auto& [image, counts] : tally.by_image) {
    json["after"][image] = json_of(counts);
  }
  json["bad"] = nlohmann::ordered_json::array();
  for (const Case& one : tally.bad) {
    json["bad"].push_back(text_of(one));
  }
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace remora::corruption
