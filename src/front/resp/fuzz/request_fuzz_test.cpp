#include <gtest/gtest.h>

#include "base/corpus_testing.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace remora::resp {
namespace {

TEST(RequestFuzz, holds_for_its_corpus_and_changes_of_it) {
  EXPECT_GE(try_corpus(REMORA_RESP_CORPUS, LLVMFuzzerTestOneInput), 3);
}

}  // namespace
}  // namespace remora::resp
