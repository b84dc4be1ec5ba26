// The fuzz targets as tests: their corpora, and changes of them, without a fuzzer.
#include <gtest/gtest.h>

#include "base/corpus_testing.h"

int roce_fuzz_one(const std::uint8_t* data, std::size_t size);
int net_fuzz_one(const std::uint8_t* data, std::size_t size);

namespace remora::fabric::nic::roce {
namespace {

TEST(RoceFuzz, packets_hold_for_their_corpus_and_changes_of_it) {
  EXPECT_GE(try_corpus(REMORA_ROCE_CORPUS "/roce_fuzz", roce_fuzz_one), 4);
}

TEST(RoceFuzz, introductions_hold_for_their_corpus_and_changes_of_it) {
  EXPECT_GE(try_corpus(REMORA_ROCE_CORPUS "/net_fuzz", net_fuzz_one), 4);
}

}  // namespace
}  // namespace remora::fabric::nic::roce
