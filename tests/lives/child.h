// Child: a process that runs a function, tells what it has to tell as lines of text, and is killed
// at the latest with this object, or with the process that made it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace remora::fabric::lives {

// What a child says through; lines of any length.
class Teller {
 public:
  explicit Teller(int descriptor) : descriptor_(descriptor) {}
  void tell(const std::string& line) const;

 private:
  int descriptor_;
};

class Child {
 public:
  // The function runs with no descriptor of this process but the standard ones.
  explicit Child(const std::function<void(const Teller&)>& body);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  void send(int signal) const;

  // How it is now; neither blocks.
  bool stopped();
  bool gone();
  // Empty when it has ended by itself and well; else how it is.
  std::string trouble();

  // Whether it has told that line yet.
  bool told(const std::string& line);
  // What follows `prefix` in the first line that begins with it; empty when there is none.
  std::string told_after(const std::string& prefix);

 private:
  void look();
  void listen();

  pid_t pid_;
  int ear_;
  std::string text_ = "\n";  // all that it told, a line break before each line
  bool stopped_ = false;
  bool gone_ = false;
  int status_ = 0;
};

}  // namespace remora::fabric::lives
