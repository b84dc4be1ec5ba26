#include "tests/support/process.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/check.h"

namespace remora {
namespace {

constexpr int cannot_start = 127;
constexpr uid_t nobody = 65534;

// The program may be writing on: its place in the file is left alone.
std::string text_in(int descriptor) {
  struct stat facts = {};
  REMORA_CHECK(fstat(descriptor, &facts) == 0, "a program's output is lost");
  std::string text(static_cast<std::size_t>(facts.st_size), '\0');
  const ssize_t got = pread(descriptor, text.data(), text.size(), 0);
  REMORA_CHECK(got == static_cast<ssize_t>(text.size()), "a program's output cannot be read");
  return text;
}

// A file without a name: the program writes it, and it is read when the program has ended. Unlike a
// pipe it never fills up.
class Capture {
 public:
  Capture() : descriptor_(memfd_create("capture", MFD_CLOEXEC)) {
    REMORA_CHECK(descriptor_ >= 0, "no memory to keep a program's output in");
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  ~Capture() { close(descriptor_); }

  int descriptor() const { return descriptor_; }

  std::string text() const { return text_in(descriptor_); }

 private:
  const int descriptor_;
};

bool give_up_rights() {
  return geteuid() != 0 ||
         (setgroups(0, nullptr) == 0 && setgid(nobody) == 0 && setuid(nobody) == 0);
}

// In the child: only calls that are safe after a fork.
[[noreturn]] void become(int program, char* const* arguments, const ProcessOptions& options,
                         int out, int err) {
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const bool ready = dup2(nothing, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
                     dup2(err, STDERR_FILENO) >= 0 &&
                     (options.folder.empty() || chdir(options.folder.c_str()) == 0) &&
                     (!options.unprivileged || give_up_rights());
  if (ready) {
    // By descriptor: the program's folder may be closed to `nobody`.
    fexecve(program, arguments, environ);
  }
  _exit(cannot_start);
}

int exit_status_of(pid_t child) {
  int status = 0;
  REMORA_CHECK(waitpid(child, &status, 0) == child, "a child process is lost");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Outcome run_process(const std::vector<std::string>& argv, const ProcessOptions& options) {
  std::vector<char*> arguments;
  for (const std::string& argument : argv) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  const int program = open(argv.at(0).c_str(), O_RDONLY | O_CLOEXEC);
  if (program < 0) {
    return {cannot_start, "", "cannot open " + argv[0]};
  }
  const Capture out;
  const Capture err;
  const pid_t child = fork();
  REMORA_CHECK(child >= 0, "no process to be had");
  if (child == 0) {
    become(program, arguments.data(), options, out.descriptor(), err.descriptor());
  }
  close(program);
  const int exit_status = exit_status_of(child);
  return {exit_status, out.text(), err.text()};
}

RunningProcess::RunningProcess(const std::vector<std::string>& argv, const ProcessOptions& options)
    : out_(memfd_create("out", MFD_CLOEXEC)), err_(memfd_create("err", MFD_CLOEXEC)) {
  std::vector<char*> arguments;
  for (const std::string& argument : argv) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  const int program = open(argv.at(0).c_str(), O_RDONLY | O_CLOEXEC);
  pid_ = fork();
  REMORA_CHECK(pid_ >= 0 && out_ >= 0 && err_ >= 0, "no process to be had");
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // nothing outlives the test
    become(program, arguments.data(), options, out_, err_);
  }
  close(program);
}

RunningProcess::RunningProcess(RunningProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      out_(std::exchange(other.out_, -1)),
      err_(std::exchange(other.err_, -1)),
      exit_status_(other.exit_status_) {}

RunningProcess::~RunningProcess() {
  if (pid_ > 0) {
    signal(SIGKILL);
    wait();
  }
  for (const int descriptor : {out_, err_}) {
    if (descriptor >= 0) {
      close(descriptor);
    }
  }
}

std::string RunningProcess::out() const {
  return text_in(out_);
}

std::string RunningProcess::err() const {
  return text_in(err_);
}

bool RunningProcess::ended() {
  int status = 0;
  if (pid_ > 0 && waitpid(pid_, &status, WNOHANG) == pid_) {
    pid_ = -1;
    exit_status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  return pid_ < 0;
}

void RunningProcess::signal(int number) const {
  if (pid_ > 0) {
    kill(pid_, number);
  }
}

int RunningProcess::wait() {
  if (pid_ > 0) {
    exit_status_ = exit_status_of(std::exchange(pid_, -1));
  }
  return exit_status_;
}

}  // namespace remora
