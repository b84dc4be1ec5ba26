#include "link/fuzz/link_fuzz.h"

#include <gtest/gtest.h>

#include "base/corpus_testing.h"

namespace remora::link {
namespace {

TEST(LinkFuzz, sessions_hold_for_their_corpus_and_changes_of_it) {
  EXPECT_GE(try_corpus(REMORA_LINK_CORPUS "/session_fuzz", fuzz_session), 4);
}

}  // namespace
}  // namespace remora::link
