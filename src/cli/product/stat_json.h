// Facts as one JSON object on standard output: whole numbers as numbers, yes and no as booleans.
#pragma once

#include "server/facts.h"

namespace remora::cli {

void print_facts_as_json(const server::Facts& facts);

}  // namespace remora::cli
