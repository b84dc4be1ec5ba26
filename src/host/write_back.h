// WriteBack: in virtual time, what it costs a core to write lines of persistent memory back, where
// that depends on more than their number: on which of them have changed, and on what others write
// to the same medium. Where time is real there is none.
//
// One thread, the loop's.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace remora {

class WriteBack {
 public:
  virtual ~WriteBack() = default;

  // A core has copied into these bytes, the same as before or not.
  virtual void changed(ConstBytes range) = 0;

  // A core that comes to it at `at_ns` writes back the lines of `range`, as they are now: for how
  // long that keeps it.
  virtual std::uint64_t write_back_ns(ConstBytes range, std::uint64_t at_ns) = 0;
};

}  // namespace remora
