#include "lab/measured/seat.h"

namespace remora::lab {
namespace {

bool usable(cpu_set_t& allowed) {
  CPU_ZERO(&allowed);
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0;
}

}  // namespace

std::vector<std::size_t> usable_processors() {
  std::vector<std::size_t> processors;
  if (cpu_set_t allowed; usable(allowed)) {
    for (std::size_t processor = 0; processor < CPU_SETSIZE; ++processor) {
      if (CPU_ISSET(processor, &allowed)) {
        processors.push_back(processor);
      }
    }
  }
  return processors;
}

Seat::Seat(unsigned number) {
  const std::vector<std::size_t> processors = usable_processors();
  if (processors.size() < 2 || !usable(before_)) {
    return;
  }
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  CPU_SET(processors[number % processors.size()], &chosen);
  taken_ = sched_setaffinity(0, sizeof chosen, &chosen) == 0;
}

Seat::~Seat() {
  if (taken_) {
    (void)sched_setaffinity(0, sizeof before_, &before_);
  }
}

}  // namespace remora::lab
