#include "lab/lives/server_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <utility>

#include "lab/measured/child.h"

namespace remora::lab {
namespace {

constexpr int cannot_start = 127;

int status_of(int waited) {
  return WIFEXITED(waited) ? WEXITSTATUS(waited) : 128 + WTERMSIG(waited);
}

}  // namespace

Result<ServerProcess> ServerProcess::start(const std::string& program,
                                           const std::vector<std::string>& arguments,
                                           const std::string& complaints) {
  std::vector<std::string> words = {program, "serve"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) {
    pointers.push_back(word.data());
  }
  pointers.push_back(nullptr);
  const std::string heard = complaints.empty() ? "/dev/null" : complaints;
  const Result<pid_t> child = fork_child("a server", [&] {
    // Only calls that are safe after a fork.
    const int nothing = open("/dev/null", O_RDWR);
    const int errors = open(heard.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    execv(program.c_str(), pointers.data());
    return cannot_start;
  });
  REMORA_TRY(child.status());
  return ServerProcess(*child);
}

ServerProcess::ServerProcess(ServerProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), status_(other.status_) {}

ServerProcess& ServerProcess::operator=(ServerProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(status_, other.status_);
  return *this;
}

ServerProcess::~ServerProcess() {
  if (pid_ > 0) {
    kill();
    wait();
  }
}

void ServerProcess::kill() const {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
  }
}

void ServerProcess::ask_to_stop() const {
  if (pid_ > 0) {
    ::kill(pid_, SIGTERM);
  }
}

bool ServerProcess::ended() {
  int waited = 0;
  if (pid_ > 0 && waitpid(pid_, &waited, WNOHANG) == pid_) {
    pid_ = -1;
    status_ = status_of(waited);
  }
  return pid_ < 0;
}

int ServerProcess::wait() {
  int waited = 0;
  if (pid_ > 0 && waitpid(std::exchange(pid_, -1), &waited, 0) > 0) {
    status_ = status_of(waited);
  }
  return status_;
}

}  // namespace remora::lab
