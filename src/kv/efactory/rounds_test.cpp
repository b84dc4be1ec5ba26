// Rounds with clients of whom the server hears little.
#include <string>

#include "kv/efactory/engine.h"
#include "kv/local_store.h"
#include "kv/store_testing.h"

namespace remora::kv {
namespace {

class EfactoryRoundsTest : public StoreFixture {
 protected:
  EfactoryRoundsTest() : StoreFixture(efactory::engine()) {}

  // Keys by the server's own process, until the index has to grow.
  void crowd() {
    const std::string value = "value";
    const ConstBytes piece = bytes_of(value);
    const std::uint64_t before = counter("rounds");
    for (int i = 0; i < 2000 && counter("rounds") == before; ++i) {
      const std::string key = "key-" + std::to_string(keys_++);
      ASSERT_TRUE(server_->local()->put(bytes_of(key), std::span(&piece, 1), 0).ok());
      (void)loop_.run_for(10'000);
    }
  }

  int keys_ = 0;
};

// Every growth of the index takes two rounds. The client answers all of them, but what tells the
// server that its notices have arrived is lost: so a few are on their way for good, and the next
// one waits until they are acknowledged.
TEST_F(EfactoryRoundsTest, a_client_with_too_many_notices_on_their_way_is_told_later) {
  start(4 << 20, {.create = true, .expected_keys = 1});
  ASSERT_TRUE(put("first", "value").ok());
  network_.set_faults({.control_loss_ppm = 1'000'000});
  const std::uint64_t grown_bytes = counter("index_bytes");
  const std::uint64_t first = counter("rounds");
  for (int i = 0; i < 4; ++i) {
    crowd();
    (void)loop_.run_for(100'000);
  }
  const std::uint64_t rounds = counter("rounds");
  EXPECT_GT(rounds, first + 3);
  (void)loop_.run_for(2'000'000);
  EXPECT_TRUE(server_->busy()) << "the client could be told of every round";
  EXPECT_EQ(server_->clients(), 1u);
  network_.set_faults({});
  (void)loop_.run_for(3'000'000'000);
  EXPECT_EQ(server_->clients(), 1u) << "a client that was not told is not silent";
  EXPECT_FALSE(server_->busy());
  EXPECT_GT(counter("index_bytes"), grown_bytes);
  EXPECT_EQ(get("first"), "value");
  EXPECT_EQ(get("key-0"), "value");
}

}  // namespace
}  // namespace remora::kv
