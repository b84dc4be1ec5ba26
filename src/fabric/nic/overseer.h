// Overseer: whoever is asked before a request is posted, in worlds that have one.
#pragma once

#include "fabric/work.h"

namespace remora::fabric::nic {

class Overseer {
 public:
  // May change the request; what is posted is what is left of it.
  virtual void look(SendWork& work) = 0;

 protected:
  ~Overseer() = default;
};

}  // namespace remora::fabric::nic
