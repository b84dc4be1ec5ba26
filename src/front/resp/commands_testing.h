// For the tests of this layer: the commands on a store in a map, without sockets.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "front/resp/command.h"
#include "front/resp/memory_store.h"
#include "front/resp/parser.h"
#include "runtime/virtual_loop.h"

namespace remora::resp {

class CommandsTest : public testing::Test {
 protected:
  // The reply to a line of words, with | for line ends.
  std::string ask(const std::string& line) { return ask(session_, line); }
  std::string ask(Session& session, const std::string& line) {
    std::vector<std::string> words;
    EXPECT_TRUE(split_words(line, words));
    const std::vector<std::string_view> args(words.begin(), words.end());
    Output out;
    done_ = executor_.execute(session, args, out, full_);
    std::string reply(out.text());
    if (!out.borrowed().empty()) {
      reply += std::string(out.borrowed()) + "\r\n";
    }
    for (std::size_t at = 0; (at = reply.find("\r\n", at)) != std::string::npos;) {
      reply.replace(at, 2, "|");
    }
    return reply;
  }

  VirtualLoop loop_;
  MemoryStore store_{loop_};
  Settings settings_;
  Counters counters_;
  Executor executor_{loop_, store_, settings_, counters_};
  Session session_;
  Done done_ = Done::replied;
  bool full_ = false;
};

}  // namespace remora::resp
