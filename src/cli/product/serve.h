// remora serve: the store in the foreground, until a signal or `remora stop` ends it.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace remora::cli {

struct ServeArguments {
  std::string config;                                        // a file of settings; empty: none
  std::vector<std::pair<std::string, std::string>> changes;  // keys and values, which win over it
  bool accept_damage = false;
};

int serve_command(const ServeArguments& arguments);

}  // namespace remora::cli
