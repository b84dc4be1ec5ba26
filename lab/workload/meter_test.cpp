#include "lab/workload/meter.h"

#include <gtest/gtest.h>

#include <memory>

namespace remora::workload {
namespace {

TEST(Meter, is_all_zero_when_nothing_was_recorded) {
  const auto meter = std::make_unique<Meter>();
  EXPECT_EQ(meter->count(), 0u);
  EXPECT_EQ(meter->summary().p999_ns, 0u);
  EXPECT_EQ(meter->operations_per_second(1'000), 0);
}

TEST(Meter, keeps_kinds_apart_and_sums_them) {
  const auto meter = std::make_unique<Meter>();
  for (std::uint64_t i = 1; i <= 100; ++i) {
    meter->record(Kind::read, i);
    meter->record(Kind::update, 100 + i % 20);
  }
  meter->record_missing(Kind::read, 50);
  meter->record_failure(Kind::update);
  const Summary reads = meter->summary(Kind::read);
  EXPECT_EQ(reads.count, 101u);
  EXPECT_EQ(reads.missing, 1u);
  EXPECT_EQ(reads.failures, 0u);
  EXPECT_EQ(reads.p50_ns, 50u);
  EXPECT_EQ(reads.p99_ns, 99u);
  EXPECT_EQ(reads.p999_ns, 100u);
  EXPECT_EQ(reads.min_ns, 1u);
  EXPECT_EQ(reads.max_ns, 100u);
  EXPECT_DOUBLE_EQ(reads.mean_ns, 5'100.0 / 101);
  EXPECT_EQ(meter->summary(Kind::scan).count, 0u);
  const Summary all = meter->summary();
  EXPECT_EQ(all.count, 201u);
  EXPECT_EQ(all.failures, 1u);
  EXPECT_EQ(all.p50_ns, 100u);
  EXPECT_EQ(all.max_ns, 119u);
}

TEST(Meter, merging_equals_recording_in_one) {
  const auto one = std::make_unique<Meter>();
  const auto other = std::make_unique<Meter>();
  const auto both = std::make_unique<Meter>();
  for (std::uint64_t i = 0; i < 1'000; ++i) {
    const Kind kind = all_kinds[i % kind_count];
    (i % 3 == 0 ? one : other)->record_missing(kind, i * i);
    both->record_missing(kind, i * i);
  }
  other->record_failure(Kind::del);
  both->record_failure(Kind::del);
  one->merge(*other);
  for (const Kind kind : all_kinds) {
    EXPECT_EQ(one->summary(kind).count, both->summary(kind).count);
    EXPECT_EQ(one->summary(kind).missing, both->summary(kind).missing);
    EXPECT_EQ(one->summary(kind).failures, both->summary(kind).failures);
    EXPECT_EQ(one->summary(kind).p99_ns, both->summary(kind).p99_ns);
    EXPECT_EQ(one->latency_ns(kind).mean(), both->latency_ns(kind).mean());
  }
}

TEST(Meter, divides_by_the_time_that_it_is_told) {
  const auto meter = std::make_unique<Meter>();
  for (int i = 0; i < 500; ++i) {
    meter->record(Kind::read, 1);
  }
  EXPECT_DOUBLE_EQ(meter->operations_per_second(2'000'000'000), 250);
  EXPECT_EQ(meter->operations_per_second(0), 0);
}

TEST(Meter, forgets_all_when_cleared) {
  const auto meter = std::make_unique<Meter>();
  meter->record_missing(Kind::read, 9);
  meter->record_failure(Kind::read);
  meter->clear();
  EXPECT_EQ(meter->count(), 0u);
  EXPECT_EQ(meter->summary().missing, 0u);
  EXPECT_EQ(meter->summary().failures, 0u);
}

}  // namespace
}  // namespace remora::workload
