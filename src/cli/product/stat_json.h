// Facts as one JSON object on standard output: whole numbers as numbers, yes and no as booleans.
#pragma once

#include "link/facts.h"

namespace remora::cli {

void print_facts_as_json(const Facts& facts);

}  // namespace remora::cli
