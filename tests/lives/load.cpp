#include "tests/lives/load.h"

#include <algorithm>
#include <cstring>

namespace remora::fabric::lives {
namespace {

constexpr std::uint32_t posts_in_error = 3;
constexpr Opcode opcodes[kinds] = {Opcode::write,     Opcode::write_imm,    Opcode::read,
                                   Opcode::send,      Opcode::send_imm,     Opcode::compare_swap,
                                   Opcode::fetch_add, Opcode::atomic_write, Opcode::flush};

// A message tells by its length where in its sender's area it comes from.
std::size_t message_begin(std::size_t size_bytes) {
  return size_bytes % 1000 * word_bytes;
}

bool is_message(Kind kind) {
  return kind == Kind::send || kind == Kind::send_imm;
}

bool is_immediate(Kind kind) {
  return kind == Kind::write_imm || kind == Kind::send_imm;
}

}  // namespace

Load::Load(const Tools& tools, const Target& target, const LoadPlan& plan)
    : tools_(tools), target_(target), plan_(plan), random_(plan.seed) {}

void Load::complain(const std::string& what) {
  if (complaint_.empty()) {
    complaint_ = what;
  }
}

bool Load::pump() {
  bool worked = take_sends();
  worked |= take_receives();
  worked |= begun_ && post();
  return worked;
}

std::byte* Load::landing(std::uint64_t id) const {
  return tools_.area.at(area::landing.begin + id % slots * transfer_bytes_max);
}

// --- Posting ---

bool Load::may_post() const {
  if (failed_) {
    return posted_in_error_ < posts_in_error;
  }
  return sent_.size() < (draining_ ? 1 : plan_.depth) && plan_.limit != posted_;
}

bool Load::post() {
  bool posted = false;
  for (; may_post(); posted = true) {
    post_one();
  }
  return posted;
}

Kind Load::draw_kind() {
  std::uint32_t total = 0;
  for (const std::uint32_t weight : plan_.weights) {
    total += weight;
  }
  auto drawn = static_cast<std::uint32_t>(random_.below(total));
  std::size_t kind = 0;
  while (drawn >= plan_.weights[kind]) {
    drawn -= plan_.weights[kind++];
  }
  return static_cast<Kind>(kind);
}

std::size_t Load::draw_bytes(Kind kind) {
  if (kind == Kind::compare_swap || kind == Kind::fetch_add) {
    return word_bytes;
  }
  if (kind == Kind::atomic_write) {
    return 0;
  }
  const std::size_t most = is_message(kind) ? message_bytes_max : transfer_bytes_max;
  const std::size_t size = random_.between(1, std::min<std::size_t>(plan_.bytes_max, most));
  return plan_.in_lines && size > cache_line_bytes ? round_down(size, cache_line_bytes) : size;
}

// Where the request goes, and what it will bring.
void Load::aim(SendWork& work, Sent& sent) {
  switch (sent.kind) {
    case Kind::write:
    case Kind::write_imm:
    case Kind::flush:
      work.remote = target_.at(area::target.begin + sent.offset);
      work.flush_bytes = static_cast<std::uint32_t>(sent.size_bytes);
      work.flush_placement = FlushPlacement::visibility;
      break;
    case Kind::read:
      work.remote = target_.at(area::own.begin + sent.offset);
      break;
    case Kind::compare_swap:
      work.remote = target_.at(area::swap_word);
      work.compare = sent.before = target_.swapped;
      work.operand = target_.swapped = random_.next();
      break;
    case Kind::fetch_add:
      work.remote = target_.at(area::add_word);
      work.operand = 1;
      sent.before = target_.added++;
      break;
    case Kind::atomic_write:
      work.remote = target_.at(area::write_word);
      work.operand = random_.next();
      break;
    case Kind::send:
    case Kind::send_imm:
      break;
  }
}

void Load::post_one() {
  const Kind kind = draw_kind();
  const std::size_t size = draw_bytes(kind);
  const bool in_error = tools_.qp.state() == QpState::error;
  // Now and then all must have completed before the next begins.
  draining_ = random_.chance(1, 16);
  // Somebody must vouch for those that are silent.
  const bool must_tell = draining_ || sent_.size() + 1 >= plan_.depth || plan_.limit == posted_ + 1;
  Sent sent{.id = posted_++,
            .kind = kind,
            .signalled = must_tell || random_.below(100) >= plan_.silent_percent,
            .in_error = in_error,
            .offset = is_message(kind) ? message_begin(size)
                                       : round_down(random_.below(area::own.size_bytes - size + 1),
                                                    plan_.in_lines ? word_bytes : std::size_t{1}),
            .size_bytes = size,
            .before = 0};
  const bool brings = kind == Kind::read || kind == Kind::compare_swap || kind == Kind::fetch_add;
  const bool carries = !brings && kind != Kind::atomic_write && kind != Kind::flush;
  SendWork work{.id = sent.id,
                .opcode = opcodes[static_cast<std::size_t>(kind)],
                .signalled = sent.signalled,
                .inline_data = carries && size <= 64 && random_.chance(1, 2),
                .fence = random_.chance(1, 8)};
  aim(work, sent);
  std::byte* here = brings ? landing(sent.id) : tools_.area.at(area::own.begin + sent.offset);
  const Sge piece{here, static_cast<std::uint32_t>(size), tools_.memory.local_key()};
  if (brings || carries) {
    work.pieces = std::span(&piece, 1);
  }
  work.immediate = is_immediate(kind) ? immediates_sent_++ : 0;
  sent_.push_back(sent);
  posted_in_error_ += in_error ? 1U : 0U;
  if (const Status status = tools_.qp.post_send(std::span(&work, 1)); !status.ok()) {
    complain("a request could not be posted: " + std::string(status.message()));
  }
  if (on_post) {
    on_post(posted_);
  }
}

void Load::post_receives() {
  for (std::uint64_t id = 0; id < slots; ++id) {
    post_receive(id);
  }
}

void Load::post_receive(std::uint64_t id) {
  const Sge piece = tools_.memory.piece(
      tools_.area.begin() + area::inbox.begin + id * message_bytes_max, message_bytes_max);
  const ReceiveWork receive{.id = id, .pieces = std::span(&piece, 1)};
  if (const Status status = tools_.qp.post_receive(std::span(&receive, 1)); !status.ok()) {
    complain("a receive could not be posted: " + std::string(status.message()));
  }
  ++receives_out_;
}

// --- Completions of requests ---

bool Load::take_sends() {
  WorkCompletion polled[slots];
  const std::size_t count = tools_.sends.poll(polled);
  for (std::size_t i = 0; i < count; ++i) {
    take_send(polled[i]);
  }
  return count != 0;
}

void Load::take_send(const WorkCompletion& completion) {
  // Silent ones before it have succeeded, as long as nothing failed.
  for (; !sent_.empty() && sent_.front().id != completion.id; sent_.pop_front()) {
    if (sent_.front().signalled || failed_) {
      complain("request " + std::to_string(completion.id) + " completed before request " +
               std::to_string(sent_.front().id));
    }
    check_success(sent_.front());
  }
  if (sent_.empty()) {
    complain("request " + std::to_string(completion.id) + " completed, and was not outstanding");
    return;
  }
  const Sent sent = sent_.front();
  sent_.pop_front();
  ++completed_;
  if (completion.status != WorkStatus::success) {
    take_failure(sent, completion.status);
  } else if (failed_ || !sent.signalled) {
    complain("request " + std::to_string(sent.id) + " reports a success that it cannot have");
  } else {
    check_success(sent);
  }
}

void Load::take_failure(const Sent& sent, WorkStatus status) {
  const bool first = !failed_ && !sent.in_error;
  failed_ = true;
  const WorkStatus expected = first ? WorkStatus::retry_exceeded : WorkStatus::flushed;
  if (status != expected) {
    complain("request " + std::to_string(sent.id) + " completed with " +
             std::string(to_string(status)) + " instead of " + std::string(to_string(expected)));
  }
  if (tools_.qp.state() != QpState::error) {
    complain("a request has failed, and the queue pair is not in error");
  }
}

void Load::check_success(const Sent& sent) {
  const std::byte* got = landing(sent.id);
  if (sent.kind == Kind::read &&
      std::memcmp(got, own_pattern().data() + sent.offset, sent.size_bytes) != 0) {
    complain("READ " + std::to_string(sent.id) + " brought wrong bytes");
  }
  const bool is_atomic = sent.kind == Kind::compare_swap || sent.kind == Kind::fetch_add;
  if (is_atomic && load<std::uint64_t>(got) != sent.before) {
    complain("atomic " + std::to_string(sent.id) + " brought a wrong value");
  }
}

// --- Completions of receives ---

bool Load::take_receives() {
  WorkCompletion polled[slots];
  const std::size_t count = tools_.receives.poll(polled);
  for (std::size_t i = 0; i < count; ++i) {
    take_receive(polled[i]);
  }
  return count != 0;
}

void Load::take_receive(const WorkCompletion& completion) {
  if (completion.id != next_receive_++ % slots) {
    complain("receives completed out of order");
  }
  --receives_out_;
  if (completion.status == WorkStatus::flushed) {
    receives_flushed_ = true;
    return;
  }
  if (completion.status != WorkStatus::success || receives_flushed_) {
    complain("a receive completed with " + std::string(to_string(completion.status)));
    return;
  }
  check_message(completion);
  post_receive(completion.id);
}

void Load::check_message(const WorkCompletion& completion) {
  if (completion.has_immediate && completion.immediate != immediates_seen_++) {
    complain("immediate data came out of order");
  }
  if (completion.opcode != Opcode::receive) {
    return;  // a WRITE: its bytes are in the target
  }
  const std::size_t size = completion.size_bytes;
  const std::byte* got = tools_.area.at(area::inbox.begin + completion.id * message_bytes_max);
  if (size > message_bytes_max ||
      std::memcmp(got, own_pattern().data() + message_begin(size), size) != 0) {
    complain("a message of " + std::to_string(size) + " bytes is not what was sent");
  }
}

}  // namespace remora::fabric::lives
