#include "tests/lives/peers.h"

#include <signal.h>
#include <unistd.h>

#include "tests/lives/party.h"

namespace remora::fabric::lives {
namespace {

// At the moment when a stopped process goes on, before it does anything else.
const std::byte* watched_word = nullptr;
volatile std::uint64_t word_when_resumed = 0;

void note_word(int) {
  word_when_resumed = load<std::uint64_t>(watched_word);
}

void watch_word(const std::byte* word) {
  watched_word = word;
  struct sigaction action = {};
  action.sa_handler = note_word;
  action.sa_flags = SA_RESTART;
  sigaction(SIGCONT, &action, nullptr);
}

// The line, made or awaited; null when there is none.
Line* meet(const Teller& teller, Party& party, const PeerOptions& options,
           const LineOptions& line_options) {
  if (options.end == nic::ring::HostEnd::connector) {
    const Result<Line*> line = party.join(options.path, line_options);
    if (!line.ok()) {
      teller.tell("wrong: it cannot connect: " + std::string(line.status().message()));
    }
    return line.ok() ? *line : nullptr;
  }
  party.expect(line_options);
  if (const Status listening = party.listen(options.path); !listening.ok()) {
    teller.tell("wrong: it cannot listen: " + std::string(listening.message()));
    return nullptr;
  }
  teller.tell("ready");
  if (!party.run_until([&] { return party.arrived() != nullptr; }, 20'000)) {
    teller.tell("wrong: nobody came");
  }
  return party.arrived();
}

void tell_complaint(const Teller& teller, const Line& line) {
  const std::string& complaint = line.load->complaint();
  const std::string flaw = complaint.empty() ? line.area.flaw() : complaint;
  if (!flaw.empty()) {
    teller.tell("wrong: " + flaw);
  }
}

// Comes again, and writes with the key that it was given for memory which is not its own any more.
void trespass(const Teller& teller, Party& party, const PeerOptions& options, const Target& old) {
  const Result<Line*> line = party.join(options.path, {.area = 1, .plan = {}});
  if (!line.ok()) {
    teller.tell("wrong: it cannot come again: " + std::string(line.status().message()));
    return;
  }
  const std::uint64_t value = 0x6e65706f;
  const Sge piece{reinterpret_cast<std::byte*>(const_cast<std::uint64_t*>(&value)), word_bytes, 0};
  const SendWork work{.opcode = Opcode::write,
                      .inline_data = true,
                      .pieces = std::span(&piece, 1),
                      .remote = old.at(area::target.begin)};
  WorkCompletion completion{.status = WorkStatus::general_error};
  const bool came = (*line)->qp->post_send(std::span(&work, 1)).ok() && party.run_until([&] {
    return (*line)->sends->poll(std::span(&completion, 1)) == 1;
  });
  if (!came || completion.status != WorkStatus::remote_access_error) {
    teller.tell("wrong: with its old key it got " + std::string(to_string(completion.status)));
  }
}

}  // namespace

void victim(const Teller& teller, const PeerOptions& options, const Blow& blow) {
  Party party(options.kind);
  party.area(0).reset();
  watch_word(party.area(0).at(area::add_word));
  const auto strike = [&](std::uint64_t count) {
    if (blow.own_requests == count) {
      ::kill(getpid(), blow.signal);
    }
  };
  LineOptions line_options = {.area = 0, .plan = options.plan};
  std::uint64_t executed = 0;
  if (!blow.inside || !party.station().call_inside([&] { strike(++executed); })) {
    line_options.on_post = strike;
  }
  Line* line = meet(teller, party, options, line_options);
  if (line == nullptr) {
    return;
  }
  if (!party.run_until([&] { return line->load->ended(); })) {
    teller.tell("wrong: its requests never end");
  } else if (!party.run_until([&] { return party.links() == 0; })) {
    teller.tell("wrong: its link is still up");
  } else {
    tell_complaint(teller, *line);
    const std::uint64_t late = line->area.word(area::add_word) - word_when_resumed;
    teller.tell("late: " + std::to_string(late));
    if (options.end == nic::ring::HostEnd::connector) {
      trespass(teller, party, options, line->peer);
    }
  }
}

void witness(const Teller& teller, const PeerOptions& options) {
  Party party(options.kind);
  party.area(1).reset();
  Line* line = meet(teller, party, options, {.area = 1, .plan = options.plan});
  if (line == nullptr) {
    return;
  }
  if (!party.run_until([&] { return line->load->finished() || line->load->failed(); }, 20'000) ||
      line->load->failed()) {
    teller.tell("wrong: its requests fail or never end");
  }
  tell_complaint(teller, *line);
  party.tell_through(*line);
  if (!party.run_until([&] { return party.links() == 0; }, 20'000)) {
    teller.tell("wrong: its link is never ended");
  }
}

}  // namespace remora::fabric::lives
