// For the tests of this folder: a small crash memory with two CPU actors, and verbs to speak about
// single words of it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "lab/memory/crash_memory.h"
#include "lab/memory/crash_region.h"

namespace remora {

using Values = std::set<std::uint64_t>;

struct TestWorld {
  explicit TestWorld(Platform platform = {}, std::uint64_t seed = 1)
      : memory(4 * page_bytes, platform, Random(seed)), cpu(memory), other_cpu(memory) {
    memory.write_back_early(0);
  }

  std::byte* at(std::size_t word) { return memory.bytes().data() + word * word_bytes; }
  ConstBytes range(std::size_t word, std::size_t count = 1) {
    return {at(word), count * word_bytes};
  }

  void put(std::size_t word, std::uint64_t value) { store(at(word), value); }
  std::uint64_t seen(std::size_t word) { return load<std::uint64_t>(at(word)); }
  std::uint64_t durable(std::size_t word) const {
    return load<std::uint64_t>(memory.durable().data() + word * word_bytes);
  }

  // Posts `values` as one WRITE that begins at `word`.
  std::uint64_t post(QpNumber qp, std::size_t word, const std::vector<std::uint64_t>& values) {
    return memory.post_inbound(qp, word * word_bytes, std::as_bytes(std::span(values)));
  }
  void flush_remotely(QpNumber qp, std::size_t word, std::size_t count = 1,
                      FlushTo to = FlushTo::persistence) {
    memory.flush_inbound(qp, word * word_bytes, count * word_bytes, to);
  }

  // What the word may be after a power cut now.
  Values after_cut(std::size_t word) const {
    const Doubt doubt = memory.doubt();
    for (const WordInDoubt& in_doubt : doubt.words) {
      if (in_doubt.word == word) {
        Values values;
        for (const Candidate& candidate : doubt.of(in_doubt)) {
          values.insert(candidate.value);
        }
        return values;
      }
    }
    for (const CertainWord& certain : doubt.certain) {
      if (certain.word == word) {
        return {certain.value};
      }
    }
    return {load<std::uint64_t>(memory.kept().data() + word * word_bytes)};
  }

  CrashMemory memory;
  CrashRegion cpu;
  CrashRegion other_cpu;
};

}  // namespace remora
