#include "fabric/verbs/methods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace remora::fabric::verbs {
namespace {

using testing::HasSubstr;

constexpr MethodFacts everything = {.built_with_flush = true,
                                    .built_with_atomic_write = true,
                                    .device_flushes = true,
                                    .device_writes_atomically = true};

TEST(Methods, are_native_only_where_device_and_headers_have_them) {
  for (int which = 0; which < 16; ++which) {
    const MethodFacts facts = {.built_with_flush = (which & 1) != 0,
                               .built_with_atomic_write = (which & 2) != 0,
                               .device_flushes = (which & 4) != 0,
                               .device_writes_atomically = (which & 8) != 0};
    const Methods methods = *choose_methods(facts, std::nullopt);
    EXPECT_EQ(methods.flush == FlushMethod::native, (which & 5) == 5) << which;
    EXPECT_EQ(methods.atomic_write == AtomicWriteMethod::native, (which & 10) == 10) << which;
  }
}

TEST(Methods, read_after_write_can_be_asked_for) {
  EXPECT_EQ(choose_methods(everything, FlushMethod::read_after_write)->flush,
            FlushMethod::read_after_write);
}

TEST(Methods, native_flush_that_is_not_there_is_an_error_that_says_why) {
  MethodFacts facts = everything;
  facts.built_with_flush = false;
  const Status no_headers = choose_methods(facts, FlushMethod::native).status();
  EXPECT_EQ(no_headers.code(), Code::unsupported);
  EXPECT_THAT(std::string(no_headers.message()), HasSubstr("libibverbs"));
  facts.device_flushes = false;
  const Status no_device = choose_methods(facts, FlushMethod::native).status();
  EXPECT_THAT(std::string(no_device.message()), HasSubstr("the device has no FLUSH"));
}

TEST(Methods, flush_by_hand_is_taken_only_if_native_is_asked_for) {
  MethodFacts facts = everything;
  facts.built_with_flush = false;
  facts.by_hand = true;
  EXPECT_EQ(choose_methods(facts, std::nullopt)->flush, FlushMethod::read_after_write);
  EXPECT_EQ(choose_methods(facts, FlushMethod::native)->flush, FlushMethod::native);
  EXPECT_THAT(capabilities_of({.flush = FlushMethod::native}, facts).front().how,
              HasSubstr("by hand"));
  facts.device_flushes = false;
  EXPECT_FALSE(choose_methods(facts, FlushMethod::native).ok());
}

TEST(Methods, a_device_flushes_when_it_has_both_kinds) {
  const std::uint64_t visibility = std::uint64_t{1} << 38;
  const std::uint64_t persistence = std::uint64_t{1} << 39;
  EXPECT_FALSE(facts_of(0).device_flushes);
  EXPECT_FALSE(facts_of(visibility).device_flushes);
  EXPECT_FALSE(facts_of(persistence).device_flushes);
  EXPECT_TRUE(facts_of(visibility | persistence).device_flushes);
  EXPECT_FALSE(facts_of(visibility | persistence).device_writes_atomically);
  EXPECT_TRUE(facts_of(std::uint64_t{1} << 40).device_writes_atomically);
}

TEST(Methods, a_fallback_is_said_aloud_with_its_reason) {
  MethodFacts facts = everything;
  facts.device_flushes = facts.device_writes_atomically = false;
  for (const Capability& capability :
       capabilities_of(*choose_methods(facts, std::nullopt), facts)) {
    EXPECT_EQ(capability.support, Support::emulated) << capability.name;
    EXPECT_THAT(capability.how, HasSubstr("the device has no")) << capability.name;
  }
  for (const Capability& capability :
       capabilities_of(*choose_methods(everything, std::nullopt), everything)) {
    EXPECT_EQ(capability.support, Support::native) << capability.name;
  }
}

TEST(Methods, promise_persistence_only_where_a_flush_can_bring_it) {
  const auto medium = [](Granularity granularity, bool survives) {
    Strategy strategy;
    strategy.granularity = granularity;
    strategy.survives_power_cut = survives;
    return strategy;
  };
  const Strategy dax = medium(Granularity::cache_line, true);
  const Strategy dram = medium(Granularity::cache_line, false);
  const Strategy file = medium(Granularity::page, true);
  EXPECT_EQ(why_not_persistent(dax, FlushMethod::native), nullptr);
  EXPECT_EQ(why_not_persistent(dax, FlushMethod::read_after_write), nullptr);
  EXPECT_EQ(why_not_persistent(dram, FlushMethod::read_after_write), nullptr);
  EXPECT_NE(why_not_persistent(dram, FlushMethod::native), nullptr);
  EXPECT_NE(why_not_persistent(file, FlushMethod::native), nullptr);
  EXPECT_NE(why_not_persistent(file, FlushMethod::read_after_write), nullptr);
}

}  // namespace
}  // namespace remora::fabric::verbs
