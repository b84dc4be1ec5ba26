// Planted bugs. A Fault names one deliberate mistake that product code can make at a persist or
// publish point; a Faults says which one, if any, is planted now. A test plants each in turn and
// demands that the crash world notices. Real worlds hand out a Faults with nothing planted: the
// question costs one compare.
//
// Faults are told apart by their addresses: declare each once, as `inline constexpr Fault`.
#pragma once

#include <string_view>

namespace remora {

struct Fault {
  std::string_view name;  // lower case with dashes; what `remora crash --plant` takes
  std::string_view what;  // the mistake in one line
};

class Faults {
 public:
  Faults() = default;
  explicit Faults(const Fault& planted) : planted_(&planted) {}
  explicit Faults(const Fault&& temporary) = delete;

  bool planted(const Fault& fault) const { return planted_ == &fault; }

 private:
  const Fault* planted_ = nullptr;
};

}  // namespace remora
