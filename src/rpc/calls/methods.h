// Methods: what can be called. A handler is a flow that is handed a CallWork: the arguments, the
// store as the call sees it, and a place for the result. What it changes is buffered until it ends;
// so a handler that is cut off has done nothing, and one that fails changes nothing.
//
// Calls of one order key run one after the other, in the order in which their session issued them;
// others overlap. One thread, the loop's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "rpc/calls/effects.h"
#include "runtime/task.h"

namespace remora::rpc::calls {

inline constexpr std::size_t longest_result = 1024;

class CallWork {
 public:
  // Before each call. The arguments lie in the log, where their sender may change them: what is
  // judged must be copied first.
  void begin(Effects& effects, ConstBytes arguments);

  ConstBytes arguments() const { return arguments_; }
  // As this call sees it: with what it has put. Until the next put, del or wait.
  std::optional<ConstBytes> get(ConstBytes key);
  void put(ConstBytes key, ConstBytes value);
  void del(ConstBytes key);
  // At most longest_result bytes.
  void set_result(ConstBytes result);

  ConstBytes result() const { return result_; }
  std::span<const Effect> effects();
  void forget_effects() { changes_.clear(); }

 private:
  struct Change {
    std::vector<std::byte> key;
    std::optional<std::vector<std::byte>> value;
  };
  Change& change(ConstBytes key);

  Effects* effects_ = nullptr;
  ConstBytes arguments_;
  std::vector<Change> changes_;
  std::vector<Effect> list_;
  std::vector<std::byte> result_;
};

using OrderKey = std::uint64_t;

struct Method {
  std::string name;
  // A failure is the call's outcome, as a result is: it is recorded, and the call never runs again.
  std::function<Task<Status>(CallWork&)> run;
  // By which calls are in order; without it, by their session.
  std::function<OrderKey(ConstBytes arguments)> key = {};
};

// The number by which a log names a method.
std::uint32_t method_number(std::string_view name);

class Methods {
 public:
  void add(Method method);
  const Method* find(std::uint32_t number) const;

 private:
  std::unordered_map<std::uint32_t, Method> methods_;
};

}  // namespace remora::rpc::calls
