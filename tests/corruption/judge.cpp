#include "tests/corruption/judge.h"

#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <set>

#include "base/check.h"
#include "base/printable.h"
#include "kv/log/object.h"
#include "kv/log/survey.h"
#include "pmem/open_region.h"
#include "pmem/pool_checks.h"
#include "tests/corruption/life.h"

namespace remora::corruption {
namespace {

// A program that has not ended by then hangs.
constexpr unsigned longest_judgement_s = 300;
constexpr std::size_t new_keys = 24;

class Judge {
 public:
  Judge(const BaseImage& image, const Anatomy& anatomy) : image_(image), anatomy_(anatomy) {
    for (const auto& [key, allowed] : image.allowed) {
      expected_[key] = allowed;
    }
  }

  Verdict judge(Region& region) {
    check(region);
    if (live(region, true) && verdict_.outcome < Outcome::broken) {
      (void)live(region, false);
    }
    compare_with_check();
    return verdict_;
  }

  // What `pool check` and `pool salvage` make of it, in a view of their own.
  void check(Region& region) {
    const std::unique_ptr<Region> view = make_dram(region.size()).value();
    std::ranges::copy(region.bytes(), view->data());
    const Result<std::unique_ptr<Pool>> pool = Pool::open(*view, "the pool");
    if (!pool.ok()) {
      PoolFindings findings;
      std::ranges::copy(region.bytes(), view->data());
      (void)Pool::open_damaged(*view, "the pool", findings);
    }
    const kv::Survey survey =
        kv::survey_store(view->bytes(), pool.ok() ? pool.value().get() : nullptr);
    called_sound_ = pool.ok() && pool.value()->check_in_full().ok() && survey.findings.empty();
    const bool is_all = std::ranges::none_of(survey.findings, [](const kv::Finding& finding) {
      return finding.what != kv::Finding::What::value;
    });
    for (const Offset offset : survey.whole) {
      const kv::Object object(view->data() + offset, offset);
      const std::string key(as_text(object.key()));
      const std::string value(as_text(object.value()));
      if (!ever(key).contains(value)) {
        wrong(key, "salvage", "bytes that nobody has put", false);
      } else if (pool.ok() && is_all && !expected_.at(key).values.contains(value)) {
        wrong(key, "salvage", "an old value is saved", true);
      }
    }
  }
  // What is noticed when it is served is noticed by who looks at all of it.
  void compare_with_check() {
    const bool is_noticed =
        verdict_.outcome == Outcome::refused || verdict_.outcome == Outcome::damaged;
    if (is_noticed && called_sound_) {
      is(Outcome::broken, "the check calls it sound: " + verdict_.detail);
    }
  }

 private:
  // False when it was not opened.
  bool live(Region& region, bool is_first) {
    Life life(region);
    if (const Status status = life.start(); !status.ok()) {
      is(Outcome::refused, std::string(status.message()));
      return false;
    }
    if (is_first) {
      look_at_all(life, &Life::ask_remotely, "READ at once");
      look_at_all(life, &Life::ask_locally, "local");
      life.rest();
    }
    look_at_all(life, &Life::ask_remotely, "READ");
    if (!is_first) {
      look_at_all(life, &Life::ask_locally, "local, second life");
    }
    look_at_list(life);
    if (is_first) {
      go_on(life);
    }
    life.stop_in_order();
    return true;
  }

  void look_at_all(Life& life, Answer (Life::*ask)(const std::string&), std::string_view how) {
    for (auto& [key, allowed] : expected_) {
      const Answer answer = (life.*ask)(key);
      switch (answer.kind) {
        case Answer::Kind::damaged:
          is(Outcome::damaged, answer.text);
          break;
        case Answer::Kind::failed:
          is(Outcome::broken, fmt::format("{}: {}: {}", how, key, answer.text));
          break;
        case Answer::Kind::none:
          if (!allowed.none) {
            wrong(key, how, "it is lost", true);
          }
          break;
        case Answer::Kind::value:
          if (!allowed.values.contains(answer.text)) {
            const bool was_put = ever(key).contains(answer.text);
            wrong(key, how, was_put ? "an old value is back" : "bytes that nobody has put",
                  was_put);
          }
          break;
      }
    }
  }

  void look_at_list(Life& life) {
    for (const std::string& key : life.scan()) {
      const auto known = expected_.find(key);
      if (known == expected_.end()) {
        wrong(key, "scan", "a key that nobody has put", false);
      } else if (known->second.values.empty()) {
        wrong(key, "scan", "a deleted key is back", true);
      }
    }
  }

  // Some keys are put anew, and some that were not there before.
  void go_on(Life& life) {
    std::vector<std::string> keys;
    for (const auto& [key, allowed] : expected_) {
      if (keys.size() < new_keys) {
        keys.push_back(key);
      }
    }
    for (std::size_t i = 0; i < new_keys; ++i) {
      keys.push_back(fmt::format("new-{}", i));
    }
    for (const std::string& key : keys) {
      const std::string value = key + " of the second life";
      if (const Status status = life.put(key, value); !status.ok()) {
        if (status.code() == Code::damaged || status.code() == Code::no_space) {
          is(Outcome::refused, std::string(status.message()));
          expected_[key].values.insert(value);
          continue;
        }
        is(Outcome::broken, fmt::format("put of {}: {}", key, status.message()));
        return;
      }
      expected_[key] = {{value}, false};
      put_anew_.insert(key);
    }
  }

  const std::set<std::string>& ever(const std::string& key) const {
    static const std::set<std::string> none;
    const auto found = image_.ever.find(key);
    return found == image_.ever.end() ? none : found->second;
  }

  // Before or behind the mark; bytes that nobody has put are wrong anywhere.
  void wrong(const std::string& key, std::string_view how, std::string_view what, bool was_put) {
    const auto newest = anatomy_.newest.find(key);
    const bool is_behind = was_put && !put_anew_.contains(key) &&
                           (newest == anatomy_.newest.end() || newest->second.behind_mark);
    wrong_keys_.insert(key);
    verdict_.wrong_keys = static_cast<std::uint32_t>(wrong_keys_.size());
    is(is_behind ? Outcome::behind : Outcome::silent,
       fmt::format("{}: {}: {}", how, printable(key), what));
  }

  // The worst counts.
  void is(Outcome outcome, const std::string& why) {
    const bool is_worse = verdict_.outcome == Outcome::harmless || outcome > verdict_.outcome;
    if (is_worse && outcome != Outcome::harmless) {
      verdict_.outcome = outcome;
      verdict_.detail = why;
    }
  }

  const BaseImage& image_;
  const Anatomy& anatomy_;
  std::map<std::string, BaseImage::Allowed> expected_;
  std::set<std::string> put_anew_;
  std::set<std::string> wrong_keys_;
  bool called_sound_ = false;
  Verdict verdict_;
};

// What crosses the pipe.
struct Report {
  Outcome outcome = Outcome::broken;
  std::uint32_t wrong_keys = 0;
  std::array<char, 400> detail{};
};

}  // namespace

std::string_view to_string(Outcome outcome) {
  constexpr std::array<std::string_view, outcome_count> names = {"refused", "damaged", "harmless",
                                                                 "behind",  "BROKEN",  "SILENT"};
  return names.at(static_cast<std::size_t>(outcome));
}

Status settle_truth(BaseImage& image) {
  const std::unique_ptr<Region> region = make_dram(image.bytes.size()).value();
  std::ranges::copy(image.bytes, region->data());
  Life life(*region);
  REMORA_TRY(life.start());
  for (auto& [key, allowed] : image.allowed) {
    const Answer answer = life.ask_remotely(key);
    const bool is_value = answer.kind == Answer::Kind::value;
    const bool is_known = is_value && image.ever[key].contains(answer.text);
    const bool is_right = is_value ? allowed.values.contains(answer.text) : allowed.none;
    const bool may_be_old = image.ending == Ending::power_cut;
    if (answer.kind > Answer::Kind::none || (is_value && !is_known) || !(is_right || may_be_old)) {
      return Status(Code::damaged, image.name + ": " + key + ": " + answer.text);
    }
    allowed = is_value ? BaseImage::Allowed{{answer.text}, false} : BaseImage::Allowed{{}, true};
  }
  life.stop_in_order();
  return {};
}

Verdict judge(const BaseImage& image, const Anatomy& anatomy, const Damage* damage) {
  const std::unique_ptr<Region> region = make_dram(image.bytes.size()).value();
  std::ranges::copy(image.bytes, region->data());
  if (damage != nullptr) {
    (void)inflict(*damage, image, region->bytes());
  }
  return Judge(image, anatomy).judge(*region);
}

Verdict judge_apart(const BaseImage& image, const Anatomy& anatomy, const Damage& damage) {
  return judge_apart([&] { return judge(image, anatomy, &damage); });
}

Verdict judge_apart(const std::function<Verdict()>& judge) {
  std::array<int, 2> pipe_ends{};
  REMORA_CHECK(::pipe(pipe_ends.data()) == 0, "a pipe cannot be had");
  const pid_t child = ::fork();
  REMORA_CHECK(child >= 0, "a process cannot be had");
  if (child == 0) {
    ::alarm(longest_judgement_s);
    const Verdict verdict = judge();
    Report report{verdict.outcome, verdict.wrong_keys, {}};
    verdict.detail.copy(report.detail.data(), report.detail.size() - 1);
    const bool told = ::write(pipe_ends[1], &report, sizeof report) == sizeof report;
    ::_exit(told ? 0 : 1);
  }
  ::close(pipe_ends[1]);
  Report report;
  const bool is_told = ::read(pipe_ends[0], &report, sizeof report) == sizeof report;
  ::close(pipe_ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!is_told) {
    return {Outcome::broken, 0,
            fmt::format("the program ended with {} {}", WIFSIGNALED(status) ? "signal" : "status",
                        WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status))};
  }
  return {report.outcome, report.wrong_keys, report.detail.data()};
}

}  // namespace remora::corruption
