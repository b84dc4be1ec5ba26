// The designs, each made in its own file. Others see them by designs() alone.
#pragma once

#include "rpc/designs/design.h"

namespace remora::rpc {

const Design& darpc();
const Design& farm();
const Design& herd_rpc();
const Design& fasst();
const Design& l5();
const Design& rfp();
const Design& scalerpc();
const Design& octopus_rpc();
const Design& lite();

}  // namespace remora::rpc
