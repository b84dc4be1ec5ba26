#include "tests/lives/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>

#include "base/check.h"

namespace remora::fabric::lives {

void Teller::tell(const std::string& line) const {
  const std::string text = line + "\n";
  REMORA_CHECK(write(descriptor_, text.data(), text.size()) == static_cast<ssize_t>(text.size()),
               "a child cannot tell what it has to tell");
}

Child::Child(const std::function<void(const Teller&)>& body) {
  int ends[2];
  REMORA_CHECK(pipe2(ends, O_CLOEXEC) == 0, "the test needs a pipe");
  const pid_t parent = getpid();
  pid_ = fork();
  REMORA_CHECK(pid_ >= 0, "the test needs another process");
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    constexpr int mouth = STDERR_FILENO + 1;
    if (getppid() != parent || (ends[1] != mouth && dup2(ends[1], mouth) != mouth)) {
      _exit(1);
    }
    close_range(mouth + 1, UINT_MAX, 0);
    body(Teller(mouth));
    _exit(0);
  }
  close(ends[1]);
  ear_ = ends[0];
  fcntl(ear_, F_SETFL, O_NONBLOCK);
}

Child::~Child() {
  if (!gone_) {
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(ear_);
}

void Child::send(int signal) const {
  if (!gone_) {
    ::kill(pid_, signal);
  }
}

void Child::look() {
  int status = 0;
  while (!gone_ && waitpid(pid_, &status, WNOHANG | WUNTRACED | WCONTINUED) == pid_) {
    stopped_ = WIFSTOPPED(status);
    gone_ = WIFEXITED(status) || WIFSIGNALED(status);
    status_ = status;
  }
}

bool Child::stopped() {
  look();
  return stopped_;
}

bool Child::gone() {
  look();
  return gone_;
}

std::string Child::trouble() {
  look();
  if (!gone_) {
    return stopped_ ? "it is stopped" : "it has not ended";
  }
  if (WIFSIGNALED(status_)) {
    return "signal " + std::to_string(WTERMSIG(status_)) + " has ended it";
  }
  return WEXITSTATUS(status_) == 0 ? "" : "exit status " + std::to_string(WEXITSTATUS(status_));
}

void Child::listen() {
  char heard[4096];
  for (ssize_t size; (size = read(ear_, heard, sizeof heard)) > 0;) {
    text_.append(heard, static_cast<std::size_t>(size));
  }
}

bool Child::told(const std::string& line) {
  listen();
  return text_.find("\n" + line + "\n") != std::string::npos;
}

std::string Child::told_after(const std::string& prefix) {
  listen();
  const std::size_t found = text_.find("\n" + prefix);
  if (found == std::string::npos) {
    return "";
  }
  const std::size_t begin = found + 1 + prefix.size();
  return text_.substr(begin, text_.find('\n', begin) - begin);
}

}  // namespace remora::fabric::lives
