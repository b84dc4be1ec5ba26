// Census: what a process holds of the machine. Taken before a blow and after all is over, the two
// must be the same.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>

namespace remora::fabric::lives {

struct Census {
  std::size_t descriptors = 0;      // open in this process
  std::size_t shared_mappings = 0;  // of this process
  std::size_t shared_objects = 0;   // named shared memory of Remora, of any process
  std::size_t socket_files = 0;     // in the folder

  // Of this process; `folder` is where listeners have their sockets.
  static Census take(const std::string& folder);

  bool operator==(const Census&) const = default;
};

// What GoogleTest prints of one.
void PrintTo(const Census& census, std::ostream* out);

}  // namespace remora::fabric::lives
