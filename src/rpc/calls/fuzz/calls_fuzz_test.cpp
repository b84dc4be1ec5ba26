#include "rpc/calls/fuzz/calls_fuzz.h"

#include <gtest/gtest.h>

#include "base/corpus_testing.h"

namespace remora {
namespace {

TEST(CallsFuzz, logs_hold_for_their_corpus_and_changes_of_it) {
  EXPECT_GE(try_corpus(REMORA_CALLS_CORPUS "/log_fuzz", fuzz_log), 4);
}

}  // namespace
}  // namespace remora
