#include "bench/store/bare_put.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace remora::bench {
namespace {

// Small, so that the places are used again.
constexpr std::size_t bare_memory_bytes = 256 << 10;

struct BareShape {
  std::size_t value_bytes;
  std::size_t connections;
};

class BarePuts : public testing::TestWithParam<BareShape> {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<BarePut>> started =
        BarePut::start({.value_bytes = GetParam().value_bytes,
                        .connections = GetParam().connections,
                        .memory_bytes = bare_memory_bytes});
    ASSERT_TRUE(started.ok()) << started.status().message();
    bare_ = std::move(started).value();
  }

  std::unique_ptr<BarePut> bare_;
};

TEST_P(BarePuts, arrive_intact_and_as_many_as_asked) {
  bare_->run(5000);
  bare_->run(1);
  EXPECT_EQ(bare_->arrived(), 5001u);
  EXPECT_EQ(bare_->mismatches(), 0u);
}

TEST_P(BarePuts, are_counted_when_they_are_not_what_was_sent) {
  bare_->run(100);
  bare_->put_spoilt();
  EXPECT_EQ(bare_->mismatches(), 1u);
  bare_->run(100);
  EXPECT_EQ(bare_->arrived(), 201u);
  EXPECT_EQ(bare_->mismatches(), 1u);
}

INSTANTIATE_TEST_SUITE_P(sizes_and_connections, BarePuts,
                         testing::Values(BareShape{8, 1}, BareShape{100, 8}, BareShape{4096, 1},
                                         BareShape{4096, 8}, BareShape{100, 64}),
                         [](const testing::TestParamInfo<BareShape>& shape) {
                           return std::to_string(shape.param.value_bytes) + "_bytes_by_" +
                                  std::to_string(shape.param.connections);
                         });

}  // namespace
}  // namespace remora::bench
