// Reading: where in a figure the numbers stand that a claim is about. Data of the figure files.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace remora::figures {

// What is taken of a series.
enum class Quantity {
  value,       // its value, at every x
  share,       // one part's share of the whole bar, at every x
  growth,      // its last value divided by its first
  increase,    // its last value less its first
  efficiency,  // its growth divided by that of x: 1 is linear
};

// The numbers are taken of every subject in every panel; with `versus`, each is divided by the same
// of every rival.
struct Reading {
  Quantity of = Quantity::value;
  std::vector<std::string> panels = {};  // empty: all
  std::vector<std::string> subjects = {};
  std::vector<std::string> versus = {};
  std::string part = {};                            // of a share
  std::optional<std::pair<double, double>> x = {};  // the sweep from here to there; none: all of it
};

enum class Trend { any, falls, rises };

// One sentence of a shape: every number of the reading keeps to the bounds.
struct Condition {
  std::string says;  // for a person
  Reading reading;
  std::optional<double> above;     // strictly
  std::optional<double> below;     // strictly
  std::optional<double> at_least;  // or equal
  std::optional<double> at_most;   // or equal
  Trend trend = Trend::any;        // along x, strictly from one to the next
};

// How a claim is read: a shape by its conditions, all of which must hold; any other by a reading.
struct ClaimReading {
  std::string claim;
  Reading reading;
  std::vector<Condition> conditions;
};

}  // namespace remora::figures
