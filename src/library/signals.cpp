#include <remora/signals.h>

#include "base/lost_memory.h"

namespace remora {

Expected<void> survive_lost_files() {
  const Status status = catch_lost_memory();
  return status.ok() ? Expected<void>()
                     : Expected<void>(Error{static_cast<ErrorCode>(status.code()),
                                            std::string(status.message())});
}

}  // namespace remora
