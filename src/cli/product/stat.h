// remora stat: what a running store tells of itself, once, for people; or as JSON.
#pragma once

#include <remora/facts.h>

#include <string>

#include "cli/product/connection.h"
#include "cli/product/paint.h"

namespace remora::cli {

struct StatArguments {
  std::string name;  // that value alone, as it is
  bool json = false;
  std::string color = "auto";
};
int stat_command(const ConnectArguments& where, const StatArguments& arguments);
// Of a store that is open.
int show_stat(Store& store, const StatArguments& arguments);

// The facts of the store, and those of this connection; of one name alone if that is not empty.
// Fails with invalid_argument when nothing has the name.
Expected<Facts> all_facts(Store& store, const std::string& name = "");

// By group, in units; counters with their rate since the store was opened.
std::string shown_facts(const Facts& facts, const Paint& paint);

}  // namespace remora::cli
