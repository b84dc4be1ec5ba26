#include "pmem/region.h"

namespace remora {

std::string_view to_string(Granularity granularity) {
  switch (granularity) {
    case Granularity::byte:
      return "byte";
    case Granularity::cache_line:
      return "cache line";
    case Granularity::page:
      return "page";
  }
  return "unknown";
}

}  // namespace remora
