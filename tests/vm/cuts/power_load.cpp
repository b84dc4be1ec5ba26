// Runs in a guest. Starts a store on a disk that a power cut has hit, checks that it holds what its
// clients were told, and then loads it until the power is cut again:
//   power_load COMMAND FOLDER JOURNAL SEED SECONDS
// With 0 seconds it only checks, and ends the server in order. Exit status: 0; 1 if a promise is
// broken or something else went wrong; 2 for wrong usage; 4 if it has worked for all of the seconds
// and nobody cut the power; 5 if store and clients lost sight of each other, and the server lives.
#include <fmt/core.h>

#include <cstdlib>

#include "tests/vm/cuts/load.h"

int main(int count, char** words) {
  using remora::Status;
  if (count != 6) {
    fmt::print(stderr, "usage: power_load COMMAND FOLDER JOURNAL SEED SECONDS\n");
    return 2;
  }
  const std::string folder = words[2];
  remora::vm::Load load({.program = words[1],
                         .pool = folder + "/store.pool",
                         .socket = "/run/store.sock",
                         .journal = words[3],
                         .seed = std::strtoull(words[4], nullptr, 10)});
  const std::uint64_t seconds = std::strtoull(words[5], nullptr, 10);
  Status status = load.start_and_check();
  if (status.ok()) {
    fmt::print(
        "{} keys hold what was promised after {} lives; {} puts were acknowledged as "
        "persistent\n",
        load.account().keys(), load.account().lives(), load.account().persistent());
    std::fflush(stdout);
    status = seconds == 0 ? load.stop() : load.work_for(seconds * 1'000'000'000);
  }
  if (!status.ok()) {
    fmt::print(stderr, "power_load: {}\n", status.message());
    const bool is_lost_from_sight = status.code() == remora::Code::timed_out ||
                                    status.code() == remora::Code::closed ||
                                    status.code() == remora::Code::in_use;
    return is_lost_from_sight && !load.server_ended() ? 5 : 1;
  }
  return seconds == 0 ? 0 : 4;
}
