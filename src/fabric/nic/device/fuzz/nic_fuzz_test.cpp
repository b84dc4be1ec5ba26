#include "fabric/nic/device/fuzz/nic_fuzz.h"

#include <gtest/gtest.h>

#include "base/corpus_testing.h"

namespace remora::fabric::nic::fuzz {
namespace {

TEST(NicFuzz, nothing_is_executed_without_the_right_in_its_corpus_and_changes_of_it) {
  EXPECT_GE(try_corpus(REMORA_NIC_CORPUS "/responder_fuzz", try_responder, 100), 5);
}

TEST(NicFuzz, no_answer_does_harm_in_its_corpus_and_changes_of_it) {
  EXPECT_GE(try_corpus(REMORA_NIC_CORPUS "/requester_fuzz", try_requester, 100), 5);
}

}  // namespace
}  // namespace remora::fabric::nic::fuzz
