// All runs of some figures: what is asked of them, and what became of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "lab/experiments/experiment.h"
#include "lab/figures/library.h"
#include "lab/figures/observations.h"

namespace remora::cli {

struct FiguresArguments {
  std::string name;
  std::string out = "data/figures";
  lab::FigureRunOptions run;
  std::vector<std::string> settings;  // "memory.flush_line_ns=114"
  std::uint64_t repeats = 5;
  std::string sweep;
  std::size_t threads = 0;
  std::string measured = "none";
  bool full = false;
  bool json = false;
};

struct FigureRuns {
  std::size_t runs = 0;
  std::size_t failed = 0;  // of which standard error has been told
};

// Runs them, and adds what was seen.
Result<FigureRuns> run_all(const std::vector<const figures::Figure*>& chosen,
                           const FiguresArguments& arguments, figures::Observations& observations);

// Our numbers of one outcome, in short: "0.98", "1.42..3.79", "holds".
std::string text_of(const figures::Outcome& outcome);

// "cores", "records", "ops" or a number of the profile, "memory.flush_line_ns": sets it for a run.
// Fails with invalid_argument where no such number exists, or it cannot have this value.
Status set_knob(const std::string& name, const std::string& value, lab::FigureRunOptions& run);
// "cores=4": a name, and one value or several.
struct Knob {
  std::string name;
  std::vector<std::string> values;
};
Result<Knob> parse_knob(const std::string& text);

// Prints which claims hold at which value of the knob that is swept.
int run_sweep(const figures::Library& library, const std::vector<const figures::Figure*>& chosen,
              const FiguresArguments& arguments);

}  // namespace remora::cli
