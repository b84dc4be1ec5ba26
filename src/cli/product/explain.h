// remora explain: what is in force here, and what an acknowledged put therefore means.
#pragma once

#include <string>

#include "cli/product/connection.h"

namespace remora::cli {

struct ExplainArguments {
  std::string pool;  // of a file, with no server; empty: of the running store
  std::string media = "auto";
  std::string wire =
      {};  // verbs with or without a device's name: what reaching the pool by it means
};

int explain_command(const ConnectArguments& where, const ExplainArguments& arguments);

}  // namespace remora::cli
