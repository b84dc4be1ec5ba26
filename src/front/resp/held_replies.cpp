#include "front/resp/held_replies.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace remora::resp {

void HeldReplies::hold(Connection& connection, std::size_t from, bool is_joined) {
  std::vector<Connection::Hold>& holds = connection.holds;
  const kv::LocalStore::Mark mark = store_.now();
  ++connection.held;
  if (is_joined || (!holds.empty() && holds.back().mark == mark)) {
    holds.back().mark = mark;
    ++holds.back().replies;
    return;
  }
  if (holds.empty()) {
    holding_.push_back(&connection);
  }
  holds.push_back({connection.gone + connection.out.size() + from, mark});
}

void HeldReplies::see_to() {
  if (holding_.empty()) {
    return;
  }
  if (store_.persistent_now() != released_) {
    release();
  }
  if (!holding_.empty() && !committing_) {
    committing_ = true;
    flows_.keep(commit());
  }
}

void HeldReplies::release() {
  const kv::LocalStore::Mark persistent = store_.persistent_now();
  released_ = persistent;
  for (Connection* connection : std::exchange(holding_, {})) {
    if (connection->dead) {
      continue;  // what others keep was too much
    }
    std::vector<Connection::Hold>& holds = connection->holds;
    const auto first = std::ranges::find_if(
        holds, [&](const Connection::Hold& hold) { return hold.mark > persistent; });
    const bool some_go = first != holds.begin();
    for (auto hold = holds.begin(); hold != first; ++hold) {
      connection->held -= hold->replies;
    }
    holds.erase(holds.begin(), first);
    if (!holds.empty()) {
      holding_.push_back(connection);
    }
    if (some_go && desk_.send(*connection) && !connection->in.empty() &&
        connection->pause == Connection::Pause::none) {
      desk_.go_on(*connection);
    } else {
      desk_.count_kept(*connection);
    }
  }
}

Task<void> HeldReplies::commit() {
  while (!holding_.empty()) {
    // It keeps few waiting who would not.
    std::optional<Status> status;
    const std::uint64_t begun_ns = latencies_.is_on() ? runtime_.now_ns() : 0;
    if (holding_.size() * 4 >= desk_.connected() * 3) {
      status = store_.persistent_at_once();
    }
    if (!status) {
      status = co_await store_.persistent(store_.now());
    }
    if (!status->ok()) {
      fail(*status);
      break;
    }
    ++commits_;
    if (begun_ns != 0) [[unlikely]] {
      latencies_.note(LatencyEvents::Kind::commit, runtime_.now_ns() - begun_ns,
                      runtime_.wall_ms());
    }
    release();
    desk_.bury();
    desk_.look_again();
    co_await runtime_.yield();
  }
  committing_ = false;
}

// Nobody can be told that a write is persistent. The first reply that was held is the failure, and
// ends the connection: behind it there may be others that were not held, of which nobody knows
// where they begin.
void HeldReplies::fail(const Status& why) {
  for (Connection* connection : std::exchange(holding_, {})) {
    if (connection->dead) {
      continue;
    }
    const std::string before(connection->out.bytes().substr(0, connection->sendable()));
    connection->out.assign(before, before.size());
    connection->holds.clear();
    connection->held = 0;
    connection->session.closing = true;
    connection->was_refused = true;
    ++counters_.errors;
    out_.error(failure_text(why));
    (void)desk_.send(*connection);
  }
  desk_.bury();
}

}  // namespace remora::resp
