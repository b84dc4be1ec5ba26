// The parts of `remora pool`, which have files of their own.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "kv/log/survey.h"
#include "pmem/pool_file.h"

namespace remora::cli {

struct PoolArguments {
  std::string path;
  std::string size = "64M";
  std::string media = "auto";
  bool json = false;
  std::string to;            // of salvage
  std::string salvage_size;  // empty: as the old pool's
  std::string grown_size;
  std::string socket;  // of growth, where the pool is served; empty: next to the pool
  std::string token;
};

// What a pool is, for both kinds of output.
nlohmann::ordered_json pool_json(PoolFile& file);
void print_pool(PoolFile& file);

// One line for people: what is wrong, where, and with which key.
std::string finding_text(const kv::Finding& finding);

int check_pool(const PoolArguments& arguments);
int salvage_pool(const PoolArguments& arguments);

}  // namespace remora::cli
