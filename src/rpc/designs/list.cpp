#include "rpc/designs/list.h"

namespace remora::rpc {

const std::vector<const Design*>& designs() {
  static const std::vector<const Design*> all = {&darpc(),    &farm(),        &herd_rpc(),
                                                 &fasst(),    &l5(),          &rfp(),
                                                 &scalerpc(), &octopus_rpc(), &lite()};
  return all;
}

}  // namespace remora::rpc
