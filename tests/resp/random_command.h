// Commands by chance, with the mistakes that clients make: every kind of argument where another one
// belongs, options that do not go together, too many and too few of them.
#pragma once

#include <string>
#include <vector>

#include "base/random.h"

namespace remora::resp {

struct RandomCommand {
  std::vector<std::string> args;
  // How its replies are to be compared.
  enum class Reply {
    same,    // byte by byte
    near,    // a time in seconds or milliseconds: a little apart
    any_of,  // a key that is there, or none
    set,     // the same bulk strings in any order
    scan,    // the same keys, once it has gone on to its end
    hello,   // but for the number of the connection
  };
  Reply reply = Reply::same;
  int pause_ms = 0;  // after it, until a short time is over; then the key is looked at
};

RandomCommand random_command(Random& random);

}  // namespace remora::resp
