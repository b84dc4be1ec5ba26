// The model against this machine: calibrated, measured and modelled in the same minutes, several
// times. What the model cannot foretell with what verbs, copies, checksums and write-backs take is
// a cost that it lacks.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lab/measured/calibrate.h"

namespace remora::lab {

struct ComparisonOptions {
  CalibrationOptions calibration = {};
  std::vector<std::string> engines = {"rpc", "saw", "imm", "efactory"};
  std::vector<std::uint64_t> value_bytes = {64, 4096};
  std::uint64_t rounds = 5;
  std::uint64_t operations = 20'000;
  std::string folder = {};  // for the profiles of the last round
  std::function<void(std::uint64_t done, std::uint64_t of)> progress = {};
};

inline constexpr double foretold_within = 0.25;

// One store, one kind of operation, one client that waits for each. Medians of the rounds.
struct Comparison {
  std::string engine = {};
  std::string operation = {};  // "put" or "get"
  std::uint64_t value_bytes = 0;
  double measured_ns = 0;  // the median latency
  double modelled_ns = 0;
  double latency_ratio = 0;  // modelled / measured
  double measured_per_s = 0;
  double modelled_per_s = 0;
  double rate_ratio = 0;
  double processors_ns = 0;  // of the model's latency: what processors were charged with

  bool is_foretold() const;
};

// Which cost the model lacks or has too much of, for a person; empty where it foretells.
std::string lacking(const Comparison& comparison);

struct Compared {
  std::vector<Comparison> rows;
  Calibration calibration;  // of the last round
};
Result<Compared> compare_model(const ComparisonOptions& options);

}  // namespace remora::lab
