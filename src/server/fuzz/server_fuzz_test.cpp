#include "server/fuzz/server_fuzz.h"

#include <gtest/gtest.h>

#include "base/corpus_testing.h"

namespace remora::server {
namespace {

TEST(ServerFuzz, settings_hold_for_their_corpus_and_changes_of_it) {
  EXPECT_GE(try_corpus(REMORA_SERVER_CORPUS "/toml_fuzz", fuzz_toml), 3);
}

}  // namespace
}  // namespace remora::server
