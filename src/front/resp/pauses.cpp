#include "front/resp/pauses.h"

#include <algorithm>
#include <utility>

namespace remora::resp {

using Pause = Connection::Pause;

void Pauses::forget(Connection& connection) {
  for (std::vector<Connection*>* list : {&roomless_, &valueless_, &waiting_, &lengthy_}) {
    std::erase(*list, &connection);
  }
}

// --- Room ---

void Pauses::wait_for_room(Connection& connection) {
  connection.pause = Pause::room;
  roomless_.push_back(&connection);
  if (!making_room_) {
    making_room_ = true;
    flows_.keep(make_room());
  }
}

Task<void> Pauses::make_room() {
  while (!roomless_.empty()) {
    co_await runtime_.yield();  // a connection may be in the middle of its requests
    const std::uint64_t begun_ns = latencies_.is_on() ? runtime_.now_ns() : 0;
    const bool is_full = !(co_await store_.room()).ok();
    if (begun_ns != 0) [[unlikely]] {
      latencies_.note(LatencyEvents::Kind::cleaning, runtime_.now_ns() - begun_ns,
                      runtime_.wall_ms());
    }
    for (Connection* connection : std::exchange(roomless_, {})) {
      if (!connection->dead) {
        connection->pause = Pause::none;
        connection->full = is_full;
        desk_.go_on(*connection);
      }
    }
    held_.see_to();
    desk_.bury();
  }
  making_room_ = false;
}

// --- Values on their way ---

void Pauses::wait_for_value(Connection& connection) {
  connection.pause = Pause::value;
  valueless_.push_back(&connection);
  if (!looking_) {
    looking_ = true;
    flows_.keep(look_for_values());
  }
}

Task<void> Pauses::look_for_values() {
  while (!valueless_.empty()) {
    co_await runtime_.sleep_for(limits::value_look_ns);
    for (Connection* connection : std::exchange(valueless_, {})) {
      if (!connection->dead) {
        connection->pause = Pause::none;
        desk_.go_on(*connection);
      }
    }
    held_.see_to();
    desk_.bury();
  }
  looking_ = false;
}

// --- Turns of others ---

void Pauses::wait_for_turn(Connection& connection) {
  connection.pause = Pause::turn;
  lengthy_.push_back(&connection);
  if (!taking_turns_) {
    taking_turns_ = true;
    flows_.keep(take_turns());
  }
}

Task<void> Pauses::take_turns() {
  while (!lengthy_.empty()) {
    desk_.look_again();
    co_await runtime_.yield();
    if (!lengthy_.empty()) {
      Connection& first = *lengthy_.front();
      lengthy_.erase(lengthy_.begin());
      first.pause = Pause::none;
      desk_.go_on(first);
    }
    held_.see_to();
    desk_.bury();
  }
  taking_turns_ = false;
}

// --- WAITAOF, DEBUG SLEEP ---

void Pauses::wait_for_persistence(Connection& connection, const PersistenceWait& wait) {
  connection.pause = Pause::persistence;
  connection.wait = wait;
  constexpr std::uint64_t ms_ns = 1'000'000;
  const std::uint64_t timeout_ms = wait.timeout_ms;
  connection.wait_end_ns = timeout_ms == 0 || timeout_ms > never_ns / ms_ns
                               ? never_ns
                               : runtime_.after(timeout_ms * ms_ns);
  if (wait.sleep_ns != 0) {
    connection.wait_end_ns = runtime_.after(wait.sleep_ns);
  }
  waiting_.push_back(&connection);
  if (wait.local != 0) {
    flows_.keep(make_persistent(wait.mark));
  }
  runtime_.arm(*this, std::min(connection.wait_end_ns, next_end_ns()));
}

Task<void> Pauses::make_persistent(kv::LocalStore::Mark mark) {
  co_await runtime_.yield();  // the connection is in the middle of its requests
  (void)co_await store_.persistent(mark);
  end_waits();
}

std::uint64_t Pauses::next_end_ns() const {
  std::uint64_t end_ns = never_ns;
  for (const Connection* connection : waiting_) {
    end_ns = std::min(end_ns, connection->wait_end_ns);
  }
  return end_ns;
}

void Pauses::end_waits() {
  const std::uint64_t now_ns = runtime_.now_ns();
  for (Connection* connection : std::vector<Connection*>(waiting_)) {
    if (connection->dead) {
      continue;
    }
    const PersistenceWait& wait = connection->wait;
    const bool is_persistent = settings_.outlives_process && store_.persistent_now() >= wait.mark;
    const bool is_served =
        (wait.local == 0 || is_persistent) && wait.replicas == 0 && wait.sleep_ns == 0;
    const bool is_hopeless = wait.local != 0 && !is_persistent && !store_.failure().ok();
    if (is_served || is_hopeless || now_ns >= connection->wait_end_ns) {
      std::erase(waiting_, connection);
      answer(*connection, is_persistent);
    }
  }
  held_.see_to();
  desk_.bury();
  runtime_.arm(*this, next_end_ns());
}

void Pauses::answer(Connection& connection, bool is_persistent) {
  connection.pause = Pause::none;
  if (connection.wait.is_muted) {
    // Nothing.
  } else if (connection.wait.sleep_ns != 0) {
    out_.ok();
  } else {
    out_.array(2);
    out_.integer(is_persistent ? 1 : 0);
    out_.integer(0);
  }
  if (!desk_.send(connection)) {
    return;
  }
  if (!connection.in.empty()) {
    desk_.go_on(connection);
  } else {
    desk_.count_kept(connection);
  }
}

}  // namespace remora::resp
