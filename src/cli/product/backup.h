// remora backup: a copy of a store that is served, as of one moment, in a pool of its own. Puts go
// on meanwhile. The pool has its name only when it is whole and was checked.
#pragma once

#include <string>

#include "cli/product/connection.h"

namespace remora::cli {

struct BackupArguments {
  std::string to;
  std::string size;  // of the pool that is made; empty: as the store's
};
int backup_command(const ConnectArguments& where, const BackupArguments& arguments);

}  // namespace remora::cli
