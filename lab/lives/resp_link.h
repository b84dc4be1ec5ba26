// RespLink: a connection to a server that speaks Redis's protocol, for flows: one command at a
// time, and the flow waits for its reply.
//
// One thread, the loop's, which outlives it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace remora::lab {

class RespLink {
 public:
  // To a port of this machine. It waits for nothing: a server that is not there is a failure.
  static Result<std::unique_ptr<RespLink>> connect(Runtime& runtime, std::uint16_t port);
  // A port that nobody listens at now.
  static std::uint16_t free_port();

  RespLink(const RespLink&) = delete;
  RespLink& operator=(const RespLink&) = delete;
  ~RespLink();

  // The text of a reply that is no error; none for a null. `closed` when the server is gone, which
  // is final; invalid_argument with the server's words when it refuses.
  Task<Result<std::optional<std::string>>> ask(std::string request);
  // A command and its arguments, as `ask` wants them.
  static std::string encode(std::initializer_list<std::string_view> words);

 private:
  RespLink(Runtime& runtime, int descriptor) : runtime_(runtime), descriptor_(descriptor) {}
  Task<Status> write(std::string text);
  Task<Status> read_more();

  Runtime& runtime_;
  const int descriptor_;
  std::string in_;
};

}  // namespace remora::lab
