// Two RoCE stacks, one on either machine, go through the interoperation list: the cases of this
// program ask, the servant on the other machine has what they ask for.
//
//   roce_interop --serve PORT STATION               waits for one caller, and serves it
//   roce_interop --far ADDRESS:PORT STATION [--gtest_…]
//
//   STATION:
//     --wire WIRE        roce (Remora's software RNIC), verbs, or verbs:DEVICE
//     --address ADDRESS  roce: of this machine
//     --dax FILE         verbs: its memory
//     --mtu BYTES        path MTU (1024); both sides need the same
//     --rxe              roce: the other machine's device is the kernel's rxe
//
// Without --serve and --far both are on this machine: two software RNICs, at two addresses of the
// loopback device. Exit status: 0 if all that was asked for went as it should.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <span>
#include <string>

#include "tests/vm/interop/case.h"

namespace remora::fabric::interop {
namespace {

struct Arguments {
  StationOptions options;
  std::uint16_t serve_port = 0;
  std::string far_address = {};
  std::uint16_t far_port = 0;
  bool wrong = false;
};

Arguments parse(std::span<char*> words) {
  Arguments arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string word = words[i];
    const std::string value = i + 1 < words.size() ? words[i + 1] : "";
    ++i;
    if (word == "--serve") {
      arguments.serve_port = static_cast<std::uint16_t>(std::atoi(value.c_str()));
    } else if (word == "--far") {
      const std::size_t colon = value.find(':');
      arguments.far_address = value.substr(0, colon);
      arguments.far_port = static_cast<std::uint16_t>(
          std::atoi(colon == value.npos ? "" : value.substr(colon + 1).c_str()));
    } else if (word == "--wire") {
      arguments.options.wire = value;
    } else if (word == "--address") {
      arguments.options.address = value;
    } else if (word == "--dax") {
      arguments.options.dax = value;
    } else if (word == "--mtu") {
      arguments.options.mtu_bytes = static_cast<std::uint32_t>(std::atoi(value.c_str()));
    } else if (word == "--rxe") {
      arguments.options.peer_is_rxe = true;
      --i;
    } else {
      arguments.wrong = true;
    }
  }
  return arguments;
}

int serve_one(const StationOptions& options, std::uint16_t port) {
  Result<Talk> talk = Talk::await_call(port);
  const Status status = talk.ok() ? serve(options, std::move(talk).value()) : talk.status();
  if (!status.ok()) {
    fmt::print(stderr, "{}\n", status.message());
  }
  return status.ok() ? 0 : 1;
}

int ask(const StationOptions& options, const std::string& address, std::uint16_t port) {
  Result<Talk> talk = Talk::call(address, port);
  if (!talk.ok()) {
    fmt::print(stderr, "{}\n", talk.status().message());
    return 1;
  }
  setting().options = options;
  setting().far = std::make_unique<Remote>(std::move(talk).value());
  const int status = RUN_ALL_TESTS();
  setting().far.reset();
  return status;
}

// Both here, at addresses that no other process is likely to have chosen.
int ask_myself(StationOptions options) {
  const auto chance = static_cast<unsigned>(getpid());
  const std::string net = fmt::format("127.{}.{}.", 64 + chance / 256 % 128, chance % 256);
  const auto port = static_cast<std::uint16_t>(20'000 + chance % 10'000);
  const pid_t child = fork();
  if (child == 0) {
    options.address = net + "2";
    _exit(serve_one(options, port));
  }
  options.address = net + "1";
  const int asked = ask(options, net + "2", port);
  int status = 0;
  waitpid(child, &status, 0);
  return asked == 0 && status == 0 ? 0 : 1;
}

}  // namespace
}  // namespace remora::fabric::interop

int main(int count, char** words) {
  using namespace remora::fabric::interop;
  testing::InitGoogleTest(&count, words);
  const Arguments arguments = parse(std::span(words, static_cast<std::size_t>(count)).subspan(1));
  if (arguments.wrong) {
    fmt::print(stderr, "see the head of {}\n", __FILE__);
    return 2;
  }
  if (arguments.serve_port != 0) {
    return serve_one(arguments.options, arguments.serve_port);
  }
  return arguments.far_port != 0 ? ask(arguments.options, arguments.far_address, arguments.far_port)
                                 : ask_myself(arguments.options);
}
