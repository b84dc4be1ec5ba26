// No time is judged: a calibration gives profiles that the model takes, and a comparison rows.
#include "lab/measured/calibrate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>

#include "kv/store.h"
#include "lab/measured/compare_model.h"
#include "lab/measured/measured.h"

namespace remora::lab {
namespace {

using testing::HasSubstr;

class Calibrating : public testing::Test {
 protected:
  Calibrating() { std::filesystem::remove_all(folder); }
  ~Calibrating() override { std::filesystem::remove_all(folder); }

  const std::string folder = testing::TempDir() + "/calibrate-" + std::to_string(::getpid());
};

TEST_F(Calibrating, gives_profiles_that_the_model_takes) {
  for (const link::WireKind wire : {link::WireKind::ring, link::WireKind::mapped}) {
    const Result<Calibration> calibration = calibrate({.wire = wire});
    ASSERT_TRUE(calibration.ok()) << calibration.status().message();
    const Result<fabric::nic::sim::ProfileNames> names = write_profiles(*calibration, folder);
    ASSERT_TRUE(names.ok()) << names.status().message();
    const Result<fabric::nic::sim::Profile> profile = fabric::nic::sim::load_profile(*names);
    ASSERT_TRUE(profile.ok()) << profile.status().message();
    EXPECT_GT(profile->cpu.crc_ns_per_kb, 0u);
    EXPECT_THAT(calibration->one_sided_work,
                HasSubstr(wire == link::WireKind::ring ? "the target's" : "the initiator's"));
    for (const auto* listing : {&calibration->nic, &calibration->memory, &calibration->cpu}) {
      for (const fabric::nic::sim::ProfileNumber& number : listing->numbers) {
        EXPECT_THAT(number.source, testing::AnyOf(HasSubstr("measured on this machine"),
                                                  HasSubstr("not measured")))
            << number.key;
      }
    }
  }
  EXPECT_EQ(calibrate({.wire = link::WireKind::roce}).code(), Code::invalid_argument);
}

TEST_F(Calibrating, compares_the_model_with_this_machine) {
  for (const Placement placement : {Placement::apart, Placement::together}) {
    const Result<Compared> compared = compare_model({.calibration = {.placement = placement},
                                                     .engines = {"imm"},
                                                     .value_bytes = {64},
                                                     .rounds = 1,
                                                     .operations = 500,
                                                     .folder = folder});
    ASSERT_TRUE(compared.ok()) << compared.status().message();
    ASSERT_EQ(compared->rows.size(), 2u);
    for (const Comparison& row : compared->rows) {
      EXPECT_GT(row.measured_ns, 0);
      EXPECT_GT(row.modelled_ns, 0);
      EXPECT_GT(row.rate_ratio, 0);
    }
  }
  EXPECT_FALSE(compare_model({.rounds = 0}).ok());
}

TEST(Measured, refuses_an_engine_that_does_not_exist) {
  MeasuredOptions options{.engine = "nothing"};
  options.plan.workload = *workload::parse_workload("c");
  const Result<MeasuredReport> report = run_measured(options);
  EXPECT_EQ(report.code(), kv::find_engine("nothing").code());
  EXPECT_EQ(report.status().message(), kv::find_engine("nothing").status().message());
}

TEST(Comparison, says_what_the_model_lacks) {
  Comparison row{.measured_ns = 1000, .modelled_ns = 900, .latency_ratio = 0.9, .rate_ratio = 1.1};
  EXPECT_TRUE(row.is_foretold());
  EXPECT_EQ(lacking(row), "");
  row.rate_ratio = 1.5;
  EXPECT_THAT(lacking(row), HasSubstr("the rate is not"));
  row.latency_ratio = 0.5;
  row.modelled_ns = 500;
  EXPECT_THAT(lacking(row), HasSubstr("500 ns more than the model's 500"));
  row.latency_ratio = 1.5;
  row.modelled_ns = 1500;
  EXPECT_THAT(lacking(row), HasSubstr("500 ns less than the model's 1500"));
}

}  // namespace
}  // namespace remora::lab
