#include "tests/corruption/rivals.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "base/check.h"
#include "base/printable.h"
#include "base/random.h"
#include "pmem/open_region.h"
#include "tests/corruption/judge.h"
#include "tests/corruption/life.h"

namespace remora::corruption {
namespace {

struct RivalSubject {
  const kv::Engine& engine;
  BaseImage image;
  Anatomy anatomy;
};

// Erda's clients compute the checksum of what they READ, and the server of a Forca that never
// remembers before it answers.
bool verifies_reads(const kv::Engine& engine) {
  return engine.name() == "erda" || engine.name() == "forca-verify-always";
}

class RivalJudge {
 public:
  RivalJudge(const RivalSubject& subject, const RivalCase& one, const Faults& planted)
      : subject_(subject), case_(one), planted_(planted), truth_(subject.image) {}

  // The outcome travels as the number of keys: a verdict has the words of the campaign.
  Verdict judge(Region& region) {
    if (!case_.while_it_serves) {
      (void)inflict(case_.damage, truth_, region.bytes());
    }
    Life life(region, subject_.engine, planted_);
    if (const Status status = life.start(); !status.ok()) {
      is(RivalOutcome::refused, std::string(status.message()));
    } else {
      if (case_.while_it_serves) {
        (void)inflict(case_.damage, truth_, region.bytes());
      }
      look_at_all(life);
      life.rest();
      look_at_all(life);
    }
    return {Outcome::harmless, static_cast<std::uint32_t>(outcome_), detail_};
  }

 private:
  void look_at_all(Life& life) {
    for (const auto& [key, allowed] : truth_.allowed) {
      const Answer answer = life.ask_remotely(key);
      if (answer.kind == Answer::Kind::none) {
        if (!allowed.none) {
          is(RivalOutcome::lost, printable(key) + " is lost");
        }
      } else if (answer.kind != Answer::Kind::value) {
        is(RivalOutcome::damaged, answer.text);
      } else if (!allowed.values.contains(answer.text)) {
        look_at_wrong(key, answer.text);
      }
    }
  }

  void look_at_wrong(const std::string& key, const std::string& value) {
    const auto ever = truth_.ever.find(key);
    if (ever != truth_.ever.end() && ever->second.contains(value)) {
      is(RivalOutcome::lost, "an old value of " + printable(key) + " is back");
    } else {
      is(verifies_reads(subject_.engine) ? RivalOutcome::silent : RivalOutcome::garbled,
         printable(key) + " has bytes that nobody has put");
    }
  }

  // The worst counts.
  void is(RivalOutcome outcome, const std::string& why) {
    const bool is_worse = outcome_ == RivalOutcome::harmless || outcome > outcome_;
    if (is_worse && outcome != RivalOutcome::harmless) {
      outcome_ = outcome;
      detail_ = why;
    }
  }

  const RivalSubject& subject_;
  const RivalCase& case_;
  const Faults& planted_;
  const BaseImage& truth_;
  RivalOutcome outcome_ = RivalOutcome::harmless;
  std::string detail_;
};

// What a sound pool answers.
void take_truth(RivalSubject& subject) {
  BaseImage& image = subject.image;
  const std::unique_ptr<Region> region = make_dram(image.bytes.size()).value();
  std::ranges::copy(image.bytes, region->data());
  Life life(*region, subject.engine);
  REMORA_CHECK(life.start().ok(), "a sound pool of a rival does not open");
  for (auto& [key, allowed] : image.allowed) {
    const Answer answer = life.ask_remotely(key);
    if (answer.kind == Answer::Kind::value) {
      image.ever[key].insert(answer.text);
      allowed = {{answer.text}, false};
    } else {
      allowed = {{}, true};
    }
  }
}

std::vector<RivalSubject> make_rival_subjects(const kv::Engine& engine, std::uint64_t seed) {
  std::vector<RivalSubject> subjects;
  for (const Ending ending : {Ending::clean_stop, Ending::kill}) {
    BaseImage image =
        make_base_image(ending, Granularity::cache_line, mix(seed + subjects.size()), engine);
    Anatomy anatomy = dissect(image.bytes);
    subjects.push_back({engine, std::move(image), std::move(anatomy)});
    take_truth(subjects.back());
  }
  return subjects;
}

// A store that serves keeps what it knows of its log and its index in memory of its own, which no
// medium spoils: what goes bad under it here is a value, and what stands in its lines.
Damage choose_of_values(const Anatomy& anatomy, std::uint64_t seed) {
  Damage damage;
  do {
    damage = choose_damage(anatomy, seed = mix(seed));
  } while (damage.structure != Structure::values || damage.size_bytes > cache_line_bytes);
  return damage;
}

RivalCase judge_rival(const RivalSubject& subject, std::uint64_t number, std::uint64_t seed,
                      const Faults& planted) {
  RivalCase one;
  one.number = number;
  one.rival = subject.engine.name();
  one.image = subject.image.name;
  one.while_it_serves = number % 3 == 2;
  one.damage = one.while_it_serves ? choose_of_values(subject.anatomy, seed)
                                   : choose_change(subject.anatomy, subject.image, seed);
  const Verdict verdict = judge_apart([&] {
    const std::unique_ptr<Region> region = make_dram(subject.image.bytes.size()).value();
    std::ranges::copy(subject.image.bytes, region->data());
    return RivalJudge(subject, one, planted).judge(*region);
  });
  one.outcome = verdict.outcome == Outcome::broken ? RivalOutcome::broken
                                                   : static_cast<RivalOutcome>(verdict.wrong_keys);
  one.detail = verdict.detail;
  return one;
}

}  // namespace

std::string_view to_string(RivalOutcome outcome) {
  constexpr std::array<std::string_view, rival_outcome_count> names = {
      "refused", "damaged", "harmless", "lost", "garbled", "broken", "SILENT"};
  return names.at(static_cast<std::size_t>(outcome));
}

std::vector<const kv::Engine*> rivals() {
  std::vector<const kv::Engine*> found;
  for (const kv::Engine* engine : kv::engines()) {
    if (engine->descriptor().is_rival && !engine->name().ends_with("-no-hr")) {
      found.push_back(engine);
    }
  }
  return found;
}

RivalTally run_rivals(const CampaignOptions& options,
                      const std::function<void(const RivalCase&)>& told, const Faults& planted) {
  RivalTally tally;
  for (const kv::Engine* engine : rivals()) {
    const std::vector<RivalSubject> subjects = make_rival_subjects(*engine, options.seed);
    for (std::uint64_t number = options.first; number < options.first + options.count; ++number) {
      const std::uint64_t seed = mix(mix(options.seed) ^ number);
      RivalCase one = judge_rival(subjects[seed % subjects.size()], number, seed, planted);
      ++tally.by_rival[one.rival][static_cast<std::size_t>(one.outcome)];
      told(one);
      if (one.outcome == RivalOutcome::silent) {
        tally.bad.push_back(std::move(one));
      }
    }
  }
  return tally;
}

std::string as_table(const RivalTally& tally) {
  std::string text = fmt::format("{:18}", "rival");
  for (std::size_t i = 0; i < rival_outcome_count; ++i) {
    text += fmt::format("{:>10}", to_string(static_cast<RivalOutcome>(i)));
  }
  for (const auto& [rival, counts] : tally.by_rival) {
    text += fmt::format("\n{:18}", rival);
    for (const std::uint64_t count : counts) {
      text += fmt::format("{:>10}", count == 0 ? "." : std::to_string(count));
    }
  }
  for (const RivalCase& one : tally.bad) {
    text += fmt::format("\n#{} {}, {}, {}: {}", one.number, one.rival, one.image,
                        describe(one.damage), one.detail);
  }
  return text;
}

}  // namespace remora::corruption
