#include "lab/subjects/subjects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "kv/store.h"
#include "lab/crash/campaign.h"

namespace remora::lab {
namespace {

TEST(Subjects, are_the_parts_and_every_engine) {
  EXPECT_THAT(subject_names(),
              testing::StartsWith("pool, log, file, expiry, wflush-rpc, w-rflush-rpc, efactory, "));
  EXPECT_EQ(subjects().size(), 6 + kv::engines().size());
  for (const kv::Engine* engine : kv::engines()) {
    EXPECT_EQ(&(*find_subject(engine->name()))->descriptor(), &engine->descriptor());
  }
}

TEST(Subjects, describe_themselves) {
  std::set<std::string_view> names;
  for (const CrashSubject* subject : subjects()) {
    SCOPED_TRACE(subject->name());
    EXPECT_TRUE(names.insert(subject->name()).second);
    EXPECT_FALSE(subject->descriptor().about.empty());
    EXPECT_FALSE(subject->promise().empty());
    EXPECT_EQ(subject->store_promise().has_value(),
              subject->descriptor().kind == SystemKind::store);
    EXPECT_GE(subject->faults().size(), 4u);
    std::set<std::string_view> faults;
    for (const Fault* fault : subject->faults()) {
      EXPECT_TRUE(faults.insert(fault->name).second) << fault->name;
    }
  }
}

TEST(Subjects, an_unknown_one_is_answered_with_all_names) {
  const Result<const CrashSubject*> none = find_subject("steam");
  EXPECT_EQ(none.code(), Code::invalid_argument);
  EXPECT_THAT(std::string(none.status().message()), testing::HasSubstr(subject_names()));
}

// A persist call that moved to where nobody looks would not be muted, and so not be missed.
TEST(Subjects, somebody_answers_for_every_persist_call_that_runs_pass) {
  for (const CrashSubject* subject : subjects()) {
    CampaignOptions options;
    options.runs = 8;
    for (const SiteEntry& site : run_campaign(*subject, options).sites) {
      EXPECT_TRUE(is_answered_for(site.key)) << subject->name() << ": " << to_string(site.key);
    }
  }
}

}  // namespace
}  // namespace remora::lab
