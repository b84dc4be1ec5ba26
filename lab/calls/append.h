// The method that crash runs call: it appends the call's id to the list of its key, and answers
// with the place where that stands. The arguments are as long as their caller likes, and follow
// from the id, so that torn ones are noticed; what it reads and what it writes are some time apart,
// so that calls that overlap are noticed.
#pragma once

#include <cstdint>
#include <vector>

#include "lab/check/calls.h"
#include "rpc/calls/effects.h"
#include "rpc/calls/methods.h"
#include "runtime/runtime.h"

namespace remora::lab {

std::vector<std::byte> append_arguments(CallId id, std::uint32_t key, std::size_t size_bytes);

// The runtime outlives it.
rpc::calls::Method append_method(Runtime& runtime, std::uint64_t longest_work_ns);

// The place that a result tells.
std::uint64_t place_of(ConstBytes result);

// All lists, as the store has them now. A list and the number that is kept with it are of one
// write: where they differ, that is a torn call.
CallLists read_lists(rpc::calls::Effects& store, std::uint32_t keys, std::uint64_t at_ns);

}  // namespace remora::lab
