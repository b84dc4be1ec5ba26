// What connections wait for: that their writes are persistent, that there is room, that a time has
// come.
#include <algorithm>
#include <utility>

#include "resp/server.h"

namespace remora::resp {

using Pause = Connection::Pause;

// --- Replies that wait for their writes ---

// From this byte of the replies on, nothing leaves before the last change is persistent;
// `is_joined`: nor what was held last.
void Server::hold(Connection& connection, std::size_t from, bool is_joined) {
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

void Server::see_to_held() {
  if (holding_.empty()) {
    return;
  }
  if (store_.persistent_now() != released_) {
    release_held();
  }
  if (!holding_.empty() && !committing_) {
    committing_ = true;
    flows_.keep(commit());
  }
}

void Server::release_held() {
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
    if (some_go && send(*connection) && !connection->in.empty() &&
        connection->pause == Pause::none) {
      go_on(*connection);
    }
    count_kept(*connection);
  }
}

// Between two commits the sockets are read once: who has got a reply from the first and asks again
// at once joins the second, so that clients do not fall into groups that wait for each other.
Task<void> Server::commit() {
  while (!holding_.empty()) {
    // Where nearly all clients wait for it, a commit that blocks is cheaper, and keeps few waiting
    // who would not.
    std::optional<Status> status;
    if (holding_.size() * 4 >= connections_.size() * 3) {
      status = store_.persistent_at_once();
    }
    if (!status) {
      status = co_await store_.persistent(store_.now());
    }
    if (!status->ok()) {
      fail_held(*status);
      break;
    }
    ++commits_;
    release_held();
    bury();
    look_ = true;
    co_await runtime_.yield();
  }
  committing_ = false;
}

// Nobody can be told that a write is persistent. The first reply that was held is the failure, and
// ends the connection: behind it there may be others that were not held, of which nobody knows
// where they begin.
void Server::fail_held(const Status& why) {
  for (Connection* connection : std::exchange(holding_, {})) {
    if (connection->dead) {
      continue;
    }
    const std::string before(connection->out.bytes().substr(0, connection->sendable()));
    connection->out.assign(before, before.size());
    connection->holds.clear();
    connection->held = 0;
    connection->session.closing = true;
    ++counters_.errors;
    out_.error(failure_text(why));
    (void)send(*connection);
  }
  bury();
}

// --- Room ---

void Server::wait_for_room(Connection& connection) {
  connection.pause = Pause::room;
  roomless_.push_back(&connection);
  if (!making_room_) {
    making_room_ = true;
    flows_.keep(make_room());
  }
}

Task<void> Server::make_room() {
  while (!roomless_.empty()) {
    co_await runtime_.yield();  // a connection may be in the middle of its requests
    const bool is_full = !(co_await store_.room()).ok();
    for (Connection* connection : std::exchange(roomless_, {})) {
      if (!connection->dead) {
        connection->pause = Pause::none;
        connection->full = is_full;
        go_on(*connection);
        count_kept(*connection);
      }
    }
    see_to_held();
    bury();
  }
  making_room_ = false;
}

// --- Commands in the middle of which something must be persistent ---

void Server::wait_for_commit(Connection& connection) {
  connection.pause = Pause::commit;
  uncommitted_.push_back(&connection);
  begin_to_settle();
}

void Server::begin_to_settle() {
  if (!settling_) {
    settling_ = true;
    flows_.keep(settle());
  }
}

// One commit serves all that wait when it begins; who came later finds that, and waits once more.
Task<void> Server::settle() {
  while (!uncommitted_.empty() || !left_moves_.empty()) {
    co_await runtime_.yield();  // a connection may be in the middle of its requests
    const Status status = co_await store_.persistent(store_.now());
    for (Connection* connection : std::exchange(uncommitted_, {})) {
      if (connection->dead) {
        continue;
      }
      connection->pause = Pause::none;
      if (status.ok()) {
        go_on(*connection);
        count_kept(*connection);
      } else {
        close(*connection);
      }
    }
    if (!status.ok()) {
      left_moves_.clear();
    } else if (end_left_moves()) {
      (void)co_await store_.room();
    }
    see_to_held();
    bury();
  }
  settling_ = false;
}

// Those whose copy has become persistent meanwhile; the others wait for the next commit. Returns
// whether one needs room to be deleted. What cannot be deleted after some tries stays under both
// names, as after a power cut.
bool Server::end_left_moves() {
  constexpr int most_tries = 8;
  bool needs_room = false;
  std::erase_if(left_moves_, [&](LeftMove& left) {
    if (!store_.settled(left.move.mark)) {
      return false;
    }
    const Status ended = kv::end_move(store_, stored_key(left.key), left.move);
    const bool again = ended.code() == Code::no_space && ++left.tries < most_tries;
    needs_room |= again;
    return !again;
  });
  return needs_room;
}

// --- WAITAOF ---

void Server::wait_for_persistence(Connection& connection) {
  connection.pause = Pause::persistence;
  connection.wait = executor_.wait();
  constexpr std::uint64_t ms_ns = 1'000'000;
  const std::uint64_t timeout_ms = connection.wait.timeout_ms;
  connection.wait_end_ns = timeout_ms == 0 || timeout_ms > never_ns / ms_ns
                               ? never_ns
                               : runtime_.after(timeout_ms * ms_ns);
  waiting_.push_back(&connection);
  if (connection.wait.local != 0) {
    flows_.keep(make_persistent(connection.wait.mark));
  }
  runtime_.arm(clock_, std::min(connection.wait_end_ns, next_end_ns()));
}

Task<void> Server::make_persistent(kv::LocalStore::Mark mark) {
  co_await runtime_.yield();  // the connection is in the middle of its requests
  (void)co_await store_.persistent(mark);
  end_waits();
}

std::uint64_t Server::next_end_ns() const {
  std::uint64_t end_ns = never_ns;
  for (const Connection* connection : waiting_) {
    end_ns = std::min(end_ns, connection->wait_end_ns);
  }
  return end_ns;
}

void Server::end_waits() {
  const std::uint64_t now_ns = runtime_.now_ns();
  for (Connection* connection : std::vector<Connection*>(waiting_)) {
    if (connection->dead) {
      continue;
    }
    const bool is_persistent =
        settings_.outlives_process && store_.persistent_now() >= connection->wait.mark;
    const bool is_served =
        (connection->wait.local == 0 || is_persistent) && connection->wait.replicas == 0;
    const bool is_hopeless =
        connection->wait.local != 0 && !is_persistent && !store_.failure().ok();
    if (is_served || is_hopeless || now_ns >= connection->wait_end_ns) {
      std::erase(waiting_, connection);
      answer_wait(*connection, is_persistent);
    }
  }
  see_to_held();
  bury();
  runtime_.arm(clock_, next_end_ns());
}

void Server::answer_wait(Connection& connection, bool is_persistent) {
  connection.pause = Pause::none;
  out_.array(2);
  out_.integer(is_persistent ? 1 : 0);
  out_.integer(0);
  if (!send(connection)) {
    return;
  }
  if (!connection.in.empty()) {
    go_on(connection);
  }
  count_kept(connection);
}

}  // namespace remora::resp
