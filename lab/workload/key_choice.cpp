#include "lab/workload/key_choice.h"

#include <algorithm>

namespace remora::workload {

KeyChoice::KeyChoice(const Distribution& distribution, const Inserts& inserts)
    : inserts_(&inserts),
      choice_(distribution.choice),
      zipfian_(inserts.records(), distribution.theta),
      scatter_(inserts.records()) {}

std::uint64_t KeyChoice::draw(Random& random) {
  const std::uint64_t records = inserts_->records();
  const std::uint64_t inserted = inserts_->inserted();
  const std::uint64_t keys = records + inserted;
  std::uint64_t key = 0;
  if (choice_ == Choice::uniform) {
    key = random.below(keys);
  } else {
    zipfian_.grow(keys);
    const std::uint64_t rank = zipfian_.draw(random);
    if (choice_ == Choice::latest) {
      return by_age(rank, inserted);
    }
    key = scatter_.key_of(rank, keys);
  }
  return inserts_->exists(key) ? key : key % records;
}

// Rank 0 is the newest. The inserts of all clients take turns, newest first, and then come the
// records from the last to the first.
std::uint64_t KeyChoice::by_age(std::uint64_t rank, std::uint64_t inserted) const {
  const std::uint64_t records = inserts_->records();
  if (inserted != 0) {
    const std::uint32_t clients = inserts_->clients();
    const auto client = static_cast<std::uint32_t>(clients - 1 - rank % clients);
    const std::uint64_t age = rank / clients;
    const std::uint64_t count = inserts_->inserted_by(client);
    if (age < count) {
      return inserts_->number(client, count - 1 - age);
    }
  }
  const std::uint64_t older = rank >= inserted ? rank - inserted : rank;
  return records - 1 - older % records;
}

}  // namespace remora::workload
