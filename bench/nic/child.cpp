#include "bench/nic/child.h"

#include <fmt/core.h>
#include <poll.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include "base/check.h"
#include "lab/measured/child.h"

namespace remora::bench {
namespace {

constexpr int patience_ms = 2000;
constexpr std::size_t most_message_bytes = 4096;  // a pipe takes as much at once

struct Flags {
  std::atomic<bool> end;
};

struct Pipe {
  int from_child = -1;
  int to_parent = -1;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (pipe(ends) != 0) {
    return os_failure("cannot make a pipe", errno);
  }
  return Pipe{ends[0], ends[1]};
}

// The first byte says that it is ready; what follows is the message.
Result<std::vector<std::byte>> read_message(int from_child) {
  std::vector<std::byte> message(most_message_bytes + 1);
  const ssize_t count = read(from_child, message.data(), message.size());
  if (count < 1) {
    return Status(Code::io_error, "the process on the other core could not start");
  }
  message.resize(static_cast<std::size_t>(count));
  message.erase(message.begin());
  return message;
}

int run_child(int core, const Child::Body& body, const ChildContext& context) {
  Status status = pin_to_core(core);
  if (status.ok()) {
    status = body(context);
  }
  if (!status.ok()) {
    fmt::print(stderr, "nic: the process on the other core: {}\n", status.message());
  }
  return status.ok() ? 0 : 1;
}

}  // namespace

Status pin_to_core(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(static_cast<std::size_t>(core), &cores);
  if (sched_setaffinity(0, sizeof cores, &cores) != 0) {
    return os_failure(fmt::format("cannot run on core {}", core), errno);
  }
  return Status();
}

void hold(pid_t process) {
  kill(process, SIGSTOP);
  int status = 0;
  waitpid(process, &status, WUNTRACED);
}

void let_go(pid_t process) {
  kill(process, SIGCONT);
}

Status ChildContext::ready(ConstBytes message) const {
  REMORA_CHECK(message.size() <= most_message_bytes, "the message is too long");
  std::vector<std::byte> bytes = {std::byte{1}};
  bytes.insert(bytes.end(), message.begin(), message.end());
  if (write(to_parent_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
    return os_failure("cannot tell that the process is ready", errno);
  }
  return Status();
}

bool ChildContext::ending() const {
  return flags_.as<Flags>().end.load(std::memory_order_relaxed);
}

void ChildContext::sleep_until_ending() const {
  while (!ending()) {
    poll(nullptr, 0, 10);
  }
}

Result<std::unique_ptr<Child>> Child::start(int core, const Body& body) {
  REMORA_TRY_RESULT(flags, SharedMemory::create(page_bytes));
  REMORA_TRY_RESULT(made, make_pipe());
  std::fflush(stdout);
  const Result<pid_t> process = lab::fork_child("the process on the other core", [&] {
    close(made->from_child);
    return run_child(core, body, ChildContext(*flags, made->to_parent));
  });
  close(made->to_parent);
  if (!process.ok()) {
    close(made->from_child);
    return process.status();
  }
  std::unique_ptr<Child> child(new Child(*process, std::move(flags).value()));
  Result<std::vector<std::byte>> message = read_message(made->from_child);
  close(made->from_child);
  REMORA_TRY(message.status());
  child->message_ = std::move(message).value();
  return child;
}

Child::~Child() {
  flags_.as<Flags>().end.store(true);
  kill(process_, SIGCONT);
  for (int waited_ms = 0; waited_ms < patience_ms; ++waited_ms) {
    if (waitpid(process_, nullptr, WNOHANG) != 0) {
      return;
    }
    poll(nullptr, 0, 1);
  }
  lab::end_child(process_);
}

}  // namespace remora::bench
