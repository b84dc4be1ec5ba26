#include "cli/product/top.h"

#include <fmt/core.h>

#include <cstdio>
#include <string_view>

#include "cli/exit_status.h"
#include "cli/product/board.h"

namespace remora::cli {
namespace {

constexpr const char* to_top = "\033[H";
constexpr const char* clear_rest_of_line = "\033[K";
constexpr const char* clear_rest = "\033[J";

// Written over what stands there, so that nothing flickers.
std::string over_the_last(const std::string& text) {
  std::string all = to_top;
  for (const char letter : text) {
    if (letter == '\n') {
      all += clear_rest_of_line;
    }
    all += letter;
  }
  return all + clear_rest;
}

}  // namespace

int top_command(const ConnectArguments& where, const TopArguments& arguments) {
  const Result<Paint> paint = paint_of(arguments.color);
  if (!paint.ok()) {
    return fail(paint.status());
  }
  Expected<Store> store = open_store(where);
  if (!store) {
    return fail(store.error());
  }
  Board board;
  for (std::uint64_t turn = 1;; ++turn) {
    const Screen screen = screen_of_output();
    const Expected<bool> again = store->reconnect();
    const Expected<Facts> facts = again ? store->facts() : Expected<Facts>(again.error());
    if (facts) {
      board.add(*facts);
    } else if (screen.is_terminal) {
      board.lose(facts.error().message);  // a person waits for it to come back
    } else {
      return fail(facts.error());
    }
    const std::string text = board.draw(screen, *paint);
    fmt::print("{}", screen.is_terminal ? over_the_last(text) : text);
    std::fflush(stdout);
    if (turn == arguments.times) {
      return exit_kept;
    }
    if (!screen.is_terminal) {
      fmt::print("\n");
    }
    store->run_for(arguments.interval_ms * 1'000'000);
  }
}

}  // namespace remora::cli
