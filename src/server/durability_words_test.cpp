#include "server/durability_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace remora::server {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const kv::Engine& engine(std::string_view name) {
  return **kv::find_engine(name);
}

constexpr const char* engines_that_wait[] = {"saw", "imm", "rpc"};
constexpr const char* engines_that_follow[] = {"efactory", "efactory-no-hr", "efactory-published",
                                               "efactory-published-no-hr"};
constexpr const char* engines_that_never_do[] = {"ca", "erda", "forca", "forca-verify-always"};

TEST(DurabilityWords, say_of_each_engine_what_it_makes_persistent) {
  for (const char* name : engines_that_wait) {
    EXPECT_EQ(put_in_short(engine(name), Survives::power_cut),
              "an acknowledged put survives a power cut");
    const PutWords words = put_at_length(engine(name), Survives::power_cut);
    EXPECT_THAT(words.put, HasSubstr("survives kill -9, a crash and a power cut"));
    EXPECT_EQ(words.persistent_put, "") << "it makes no difference";
  }
  for (const char* name : engines_that_follow) {
    EXPECT_THAT(put_in_short(engine(name), Survives::power_cut),
                AllOf(HasSubstr("persistent a moment later"), HasSubstr("survives a power cut")));
    const PutWords words = put_at_length(engine(name), Survives::power_cut);
    EXPECT_THAT(words.put, AllOf(HasSubstr("persistent by itself a moment later"),
                                 HasSubstr("never torn"), HasSubstr("a native client's get"),
                                 HasSubstr("a Redis client may read it before")));
    EXPECT_THAT(words.persistent_put, HasSubstr("a power cut"));
  }
  for (const char* name : engines_that_never_do) {
    EXPECT_THAT(put_in_short(engine(name), Survives::power_cut),
                AllOf(HasSubstr("never persistent by itself"), Not(HasSubstr("moment later"))));
    EXPECT_THAT(put_at_length(engine(name), Survives::power_cut).put,
                AllOf(HasSubstr("never makes it persistent by itself"), Not(HasSubstr("torn"))));
  }
}

// Every engine is in one of the lists above; a new one is to be looked at.
TEST(DurabilityWords, are_held_against_all_engines) {
  EXPECT_EQ(std::size(engines_that_wait) + std::size(engines_that_follow) +
                std::size(engines_that_never_do),
            kv::engines().size());
}

TEST(DurabilityWords, tell_where_a_get_makes_a_difference) {
  EXPECT_THAT(put_in_short(engine("forca"), Survives::power_cut),
              HasSubstr("before a get has returned it"));
  EXPECT_THAT(put_at_length(engine("forca"), Survives::power_cut).put,
              HasSubstr("but not after a get has returned it"));
  EXPECT_THAT(put_at_length(engine("ca"), Survives::power_cut).put,
              HasSubstr("also after gets have returned it"));
}

TEST(DurabilityWords, do_not_keep_quiet_about_what_a_design_does_not_hold) {
  EXPECT_THAT(put_in_short(engine("ca"), Survives::power_cut), HasSubstr("torn"));
  EXPECT_THAT(put_in_short(engine("ca"), Survives::nothing), HasSubstr("torn"));
  EXPECT_THAT(put_at_length(engine("ca"), Survives::power_cut).caveat, HasSubstr("torn"));
  EXPECT_THAT(put_at_length(engine("erda"), Survives::power_cut).caveat, HasSubstr("tears"));
  EXPECT_EQ(put_at_length(engine("efactory"), Survives::power_cut).caveat, "");
}

// "Persistent" is what survives a power cut: nobody says it of memory.
TEST(DurabilityWords, promise_nothing_of_memory) {
  for (const kv::Engine* each : kv::engines()) {
    SCOPED_TRACE(each->name());
    EXPECT_THAT(put_in_short(*each, Survives::nothing),
                HasSubstr("nothing survives the end of this process"));
    EXPECT_THAT(put_at_length(*each, Survives::nothing).put,
                HasSubstr("nothing of it survives the end of that process"));
    EXPECT_EQ(end_in_short(*each, Survives::nothing),
              "the pool was memory, and all that it held is gone");
    EXPECT_THAT(put_in_short(*each, Survives::process_end), HasSubstr("but no power cut"));
    EXPECT_THAT(put_at_length(*each, Survives::process_end).put, HasSubstr("but no power cut"));
    EXPECT_THAT(end_in_short(*each, Survives::process_end), HasSubstr("survives no power cut"));
    for (const Survives survives : {Survives::nothing, Survives::process_end}) {
      EXPECT_EQ(put_at_length(*each, survives).persistent_put, "");
    }
  }
  for (const resp::Durability durability :
       {resp::Durability::asynchronous, resp::Durability::persistent}) {
    EXPECT_EQ(redis_in_short(durability, Survives::nothing),
              "nothing survives the end of this process");
    EXPECT_THAT(redis_in_short(durability, Survives::process_end), HasSubstr("no power cut"));
  }
  EXPECT_THAT(redis_in_short(resp::Durability::asynchronous, Survives::power_cut),
              HasSubstr("a read may show them before"));
  EXPECT_THAT(redis_in_short(resp::Durability::persistent, Survives::power_cut),
              AllOf(HasSubstr("reads of what other Redis clients wrote, when they are persistent"),
                    HasSubstr("a read may show a native client's put before that")));
}

TEST(DurabilityWords, end_with_what_there_is) {
  for (const char* name : {"efactory", "saw", "imm", "rpc"}) {
    EXPECT_EQ(end_in_short(engine(name), Survives::power_cut),
              "all that was acknowledged is persistent");
  }
  EXPECT_EQ(end_in_short(engine("ca"), Survives::power_cut),
            "persistent is what was put with --persistent; a power cut may still take the rest");
  EXPECT_EQ(end_in_short(engine("forca"), Survives::power_cut),
            "persistent is what was put with --persistent or returned by a get; a power cut may "
            "still take the rest");
}

}  // namespace
}  // namespace remora::server
