// The numbers that a reading yields. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lab/figures/figure.h"
#include "lab/figures/observations.h"

namespace remora::figures {

struct Number {
  double value = 0;
  double x = 0;
  std::size_t curve = 0;             // numbers of one curve follow one another, ascending by x
  std::string where = {};            // for a person: "efactory / imm at 4 KiB, ycsb-a"
  std::vector<double> by_seed = {};  // the same of each seed alone; empty if there was one
};

// Either every number that the reading asks for, or what is missing: an incomplete sweep has no
// worst and no best point.
struct Numbers {
  std::vector<Number> numbers;
  std::vector<std::string> missing;  // for a person: "erda at 4 KiB"
  std::vector<std::string> bursts;   // for a person: those that were not steady
  // Of throughput, by series: the least share of what was put that was persistent at the end, where
  // it was not all of it.
  std::map<std::string, double> persistent;

  bool complete() const { return missing.empty() && !numbers.empty(); }
};

// "persistent at the end: efactory 97%, erda 0%", for a person; empty where all of it was.
std::string persistent_text(const std::map<std::string, double>& persistent);

Numbers read(const Figure& figure, const Reading& reading, const Observations& observations,
             Origin origin);

}  // namespace remora::figures
