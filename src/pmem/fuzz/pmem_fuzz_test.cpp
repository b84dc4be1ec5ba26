#include "pmem/fuzz/pmem_fuzz.h"

#include <gtest/gtest.h>

#include "base/corpus_testing.h"

namespace remora {
namespace {

TEST(PmemFuzz, layouts_hold_for_their_corpus_and_changes_of_it) {
  EXPECT_GE(try_corpus(REMORA_PMEM_CORPUS "/layout_fuzz", fuzz_layout), 3);
}

}  // namespace
}  // namespace remora
