// What the machine itself can do to bring bytes to memory: hand-written loops that the region's own
// ways are measured against. x86-64 only.
//
// Every way takes a target that is aligned to a cache line and a size in whole lines, and returns
// after the fence. Any thread; nothing fails.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace remora::bench {

struct BareWay {
  std::string_view id;    // for programs
  std::string_view name;  // for people
  void (*run)(std::byte* to, const std::byte* from, std::size_t size_bytes);
};

// memcpy, then a write-back of every line, then a fence: those that this machine has, best first.
// clwb comes in two shapes: some machines take half as long again for one line when the instruction
// stands right behind the store than when a call lies between them.
std::vector<BareWay> ways_to_persist();

// Non-temporal stores, then a fence: those that this machine has, widest first.
std::vector<BareWay> ways_to_stream();

}  // namespace remora::bench
