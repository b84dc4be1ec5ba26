// What was persistent and is damaged: the key answers so, and nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "kv/efactory/engine.h"
#include "kv/efactory/faults.h"
#include "kv/local_store.h"
#include "kv/store_testing.h"
#include "pmem/pmem_testing.h"

namespace remora::kv::efactory {
namespace {

constexpr std::uint64_t second_ns = 1'000'000'000;

class Damage : public StoreFixture {
 protected:
  explicit Damage(Granularity granularity) : StoreFixture(engine()) {
    make_region_ = [granularity](std::size_t size) {
      auto region = std::make_unique<FakeRegion>(size, granularity);
      region->commit_when_asked();
      return region;
    };
    start(4 << 20, {.create = true, .expected_keys = 16});
  }

  // Puts some keys, one of them twice, and ends in good order.
  void fill() {
    for (int i = 0; i < 40; ++i) {
      ASSERT_TRUE(put("key-" + std::to_string(i), value_of(i)).ok());
    }
    ASSERT_TRUE(put("twice", "the value before").ok());
    ASSERT_TRUE(put("twice", "the value after").ok());
    (void)loop_.run_for(second_ns / 10);
    ASSERT_FALSE(server_->busy());
    ASSERT_TRUE(server_->finish().ok());
  }
  static std::string value_of(int i) {
    return "value number " + std::to_string(100 + i) +
           std::string(static_cast<std::size_t>(i), '.');
  }
  void clean_twice(const Faults& faults = Faults()) {
    start(0, {.create = false, .clean_always = true}, faults);
    while (counter("cleanings") < 2) {
      (void)loop_.run_for(100'000);
    }
  }
  Result<std::unique_ptr<StoreServer>> try_start(bool accept_damage = false) {
    client_.reset();
    server_.reset();
    pool_.reset();
    pool_ = Pool::open(*region_, "test").value();
    return engine_->start_server(Host(loop_, far_.nic, region_.get()), *pool_,
                                 {.accept_damage = accept_damage});
  }
};

class DamageTest : public Damage, public testing::WithParamInterface<Granularity> {
 protected:
  DamageTest() : Damage(GetParam()) {}
};
INSTANTIATE_TEST_SUITE_P(media, DamageTest,
                         testing::Values(Granularity::cache_line, Granularity::page),
                         [](const testing::TestParamInfo<Granularity>& param) {
                           return param.param == Granularity::page ? "page" : "cache_line";
                         });

TEST_P(DamageTest, a_damaged_value_answers_so_and_all_others_are_served) {
  fill();
  ASSERT_EQ(damage("value number 107"), 1);
  restart();
  EXPECT_EQ(get("key-7"), "damaged");
  EXPECT_EQ(get("key-8"), value_of(8));
  EXPECT_EQ(scan().size(), 41u);
  (void)loop_.run_for(second_ns / 100);
  EXPECT_EQ(counter("recovered_keys"), 41u);
  EXPECT_EQ(counter("verified_keys"), 41u);
  EXPECT_EQ(counter("damaged_keys"), 1u);
  const std::optional<LocalStore::Found> found = server_->local()->get(bytes_of("key-7"));
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->damaged && found->value.empty());
  EXPECT_FALSE(server_->local()->get(bytes_of("key-8"))->damaged);
}

TEST_P(DamageTest, is_found_by_the_background_before_anybody_asks) {
  fill();
  ASSERT_EQ(damage("value number 107"), 1);
  restart();
  (void)loop_.run_for(second_ns / 100);
  EXPECT_EQ(counter("damaged_keys"), 1u);
  EXPECT_EQ(counter("get_requests"), 0u);
  EXPECT_EQ(get("key-7"), "damaged");
}

TEST_P(DamageTest, an_older_version_does_not_come_back) {
  fill();
  ASSERT_EQ(damage("the value after"), 1);
  restart();
  EXPECT_EQ(get("twice"), "damaged");
  (void)loop_.run_for(second_ns / 100);
  EXPECT_EQ(get("twice"), "damaged");
}

TEST_P(DamageTest, a_put_or_a_del_mends_it) {
  fill();
  ASSERT_EQ(damage("value number 107") + damage("value number 108"), 2);
  restart();
  (void)loop_.run_for(second_ns / 100);
  EXPECT_EQ(counter("damaged_keys"), 2u);
  EXPECT_TRUE(put("key-7", "new").ok());
  EXPECT_TRUE(del("key-8").ok());
  EXPECT_EQ(get("key-7"), "new");
  EXPECT_EQ(get("key-8"), "not_found");
  EXPECT_EQ(counter("damaged_keys"), 0u);
  (void)loop_.run_for(second_ns / 10);
  ASSERT_TRUE(server_->finish().ok());
  restart();
  EXPECT_EQ(get("key-7"), "new");
  EXPECT_EQ(get("key-8"), "not_found");
}

TEST_P(DamageTest, cleaning_keeps_it_damaged) {
  fill();
  ASSERT_EQ(damage("value number 107"), 1);
  clean_twice();
  EXPECT_EQ(get("key-7"), "damaged");
  EXPECT_EQ(get("key-8"), value_of(8));
  EXPECT_EQ(counter("damaged_keys"), 1u);
  restart();
  EXPECT_EQ(get("key-7"), "damaged");
}

TEST_P(DamageTest, a_damaged_header_is_refused_and_served_for_reading_if_that_is_accepted) {
  fill();
  ASSERT_EQ(damage("key-17"), 1);
  const auto refused = try_start();
  EXPECT_EQ(refused.code(), Code::damaged);
  EXPECT_NE(refused.status().message().find("salvage"), std::string_view::npos);
  auto server = try_start(true);
  ASSERT_TRUE(server.ok()) << server.status().message();
  server_ = std::move(server).value();
  client_ = connected();
  EXPECT_EQ(server_->changeable().code(), Code::permission_denied);
  EXPECT_EQ(get("key-16"), value_of(16));
  EXPECT_EQ(get("key-17"), "not_found");
  EXPECT_EQ(put("key-16", "new").code(), Code::permission_denied);
  EXPECT_EQ(del("key-16").code(), Code::permission_denied);
  const std::string text = "key-16";
  const ConstBytes piece = bytes_of(text);
  EXPECT_EQ(server_->local()->put(piece, std::span(&piece, 1)).code(), Code::permission_denied);
  (void)loop_.run_for(3 * second_ns);
  EXPECT_EQ(get("key-16"), value_of(16));
  EXPECT_EQ(try_start().code(), Code::damaged);
}

TEST_P(DamageTest, marks_are_at_most_a_second_behind) {
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(put("key-" + std::to_string(i), value_of(i)).ok());
  }
  (void)loop_.run_for(second_ns);
  ASSERT_EQ(damage("key-39"), 1);
  EXPECT_EQ(try_start().code(), Code::damaged);
}

TEST_P(DamageTest, marks_of_an_earlier_life_move_when_all_was_verified) {
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(put("key-" + std::to_string(i), value_of(i)).ok());
  }
  (void)loop_.run_for(second_ns / 100);
  restart();
  (void)loop_.run_for(2 * second_ns);
  ASSERT_EQ(damage("key-39"), 1);
  EXPECT_EQ(try_start().code(), Code::damaged);
}

class DamageFault : public Damage, public testing::WithParamInterface<const Fault*> {
 protected:
  DamageFault() : Damage(Granularity::cache_line) {}

  bool is_noticed(const Faults& faults) {
    fill();
    EXPECT_EQ(damage("value number 107") + damage("the value after"), 2);
    start(0, {.create = false}, faults);
    const bool is_wrong = hides_damage();
    clean_twice(faults);
    return is_wrong || hides_damage();
  }

 private:
  // To a client that verifies nothing by itself.
  bool hides_damage() {
    client_ = connected({.verify_reads = VerifyReads::never});
    return get("key-7") != "damaged" || get("twice") != "damaged";
  }
};

TEST_P(DamageFault, is_noticed) {
  EXPECT_TRUE(is_noticed(Faults(*GetParam()))) << GetParam()->what;
}

INSTANTIATE_TEST_SUITE_P(planted, DamageFault, testing::ValuesIn(faults::of_damage),
                         [](const testing::TestParamInfo<const Fault*>& param) {
                           std::string name(param.param->name);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace remora::kv::efactory
