// For tests: random histories of one key from a seed, and a checker too simple to be wrong.
#pragma once

#include <cstdint>
#include <vector>

#include "lab/check/history.h"
#include "lab/check/register_log.h"

namespace remora {

// One event of a history that is still to be recorded, so that a test can change it before.
struct Step {
  enum class Kind : std::uint8_t { put, del, get, acknowledge, give_up, flushed, answer, cut };
  Kind kind = Kind::cut;
  ClientId client = 0;
  std::size_t operation = 0;  // counted in the order of invocation
  std::uint64_t id = 0;       // of a put's value; of an answer, where 0 is not found
  Outcome outcome = Outcome::persistent;
  CutScope scope = CutScope::whole_world;
};

struct WorldSetting {
  std::uint32_t clients = 4;
  std::uint32_t operations = 12;
  std::uint32_t cuts = 0;
  // What a cut may take: nothing that took effect; or all that was not promised.
  CutRule rule = CutRule::keeps_all;
  bool returned_survives = false;     // with may_roll_back: nor what some get returned
  std::uint32_t visible_percent = 0;  // of the acknowledgements; the others are persistent
  std::uint32_t give_up_percent = 2;  // of the operations
  std::uint32_t del_percent = 10;
};

// Runs an atomic register with clients of random speed. Every history is as the rule promises.
std::vector<Step> simulate(const WorldSetting& setting, std::uint64_t seed);

// Intervals and answers at random, with no register behind them.
std::vector<Step> scribble(const WorldSetting& setting, std::uint64_t seed);

// Gives one answer of a get another value, if there is one to change.
void mutate_answer(std::vector<Step>& steps, std::uint64_t seed);

// The steps as a history of the key "k". The history may refer to itself only: it owns all.
History record(const std::vector<Step>& steps);

// Tries every order of the operations of a history of one key, with no memory and no short cut. For
// a handful of operations.
bool some_order_explains(const History& history, CutRule rule);

}  // namespace remora
