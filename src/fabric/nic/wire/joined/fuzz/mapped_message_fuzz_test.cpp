#include "fabric/nic/wire/joined/fuzz/mapped_message_fuzz.h"

#include <gtest/gtest.h>

#include "base/corpus_testing.h"

namespace remora::fabric::nic::joined {
namespace {

TEST(MappedMessageFuzz, holds_for_its_corpus_and_changes_of_it) {
  EXPECT_GE(try_corpus(REMORA_MAPPED_CORPUS, fuzz_mapped_message), 6);
}

}  // namespace
}  // namespace remora::fabric::nic::joined
