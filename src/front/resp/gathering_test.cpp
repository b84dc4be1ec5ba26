#include "front/resp/gathering.h"

#include <gtest/gtest.h>

#include <vector>

namespace remora::resp {
namespace {

// So many clients, each of which was served in turn.
class Clients {
 public:
  explicit Clients(std::size_t count) : seen_(count) {}

  void ask(Gathering& gathering, std::size_t requests) {
    for (std::size_t i = 0; i < requests; ++i) {
      gathering.serve(seen_[next_++ % seen_.size()], seen_.size());
    }
  }

 private:
  std::vector<Gathering::Seen> seen_;
  std::size_t next_ = 0;
};

Gathering with_clients(std::size_t count) {
  Gathering gathering;
  Clients(count).ask(gathering, 2 * limits::gather_window);
  return gathering;
}

TEST(Gathering, counts_those_that_ask_and_not_those_that_did) {
  Gathering gathering;
  Clients many(50);
  many.ask(gathering, 2 * limits::gather_window);
  EXPECT_EQ(gathering.clients(), 50u);
  Clients few(3);
  few.ask(gathering, 2 * limits::gather_window);
  EXPECT_EQ(gathering.clients(), 3u);
}

TEST(Gathering, counts_a_few_busy_ones_among_many_others_as_a_few) {
  Gathering gathering;
  Clients busy(5);
  Clients sparse(30);
  for (int i = 0; i < 300; ++i) {
    busy.ask(gathering, 50);
    sparse.ask(gathering, 5);
  }
  EXPECT_LT(gathering.clients(), limits::gather_clients);
  gathering.found(1);
  EXPECT_EQ(gathering.span_ns(), 0u);
}

TEST(Gathering, counts_no_more_than_are_connected) {
  Gathering gathering;
  for (std::size_t i = 0; i < 2 * limits::gather_window; ++i) {
    Gathering::Seen passing;
    gathering.serve(passing, 4);
  }
  EXPECT_EQ(gathering.clients(), 4u);
}

TEST(Gathering, begins_when_many_ask_and_few_are_found) {
  Gathering gathering = with_clients(50);
  EXPECT_EQ(gathering.span_ns(), 0u);
  gathering.found(30);
  EXPECT_EQ(gathering.span_ns(), 0u);
  gathering.found(2);
  EXPECT_EQ(gathering.span_ns(), limits::gather_first_ns);
}

TEST(Gathering, does_not_begin_with_few_clients) {
  for (const std::size_t clients : {std::size_t{1}, std::size_t{limits::gather_clients - 1}}) {
    Gathering gathering = with_clients(clients);
    gathering.found(1);
    EXPECT_EQ(gathering.span_ns(), 0u) << clients;
  }
}

TEST(Gathering, ends_when_a_nap_finds_next_to_nothing) {
  Gathering gathering = with_clients(50);
  gathering.found(1);
  EXPECT_FALSE(gathering.gathered(1));
  EXPECT_EQ(gathering.span_ns(), 0u);
}

TEST(Gathering, ends_when_most_clients_have_left) {
  Gathering gathering = with_clients(50);
  gathering.found(1);
  Clients(4).ask(gathering, 2 * limits::gather_window);
  EXPECT_FALSE(gathering.gathered(4));
  EXPECT_EQ(gathering.span_ns(), 0u);
}

TEST(Gathering, grows_to_its_bound_while_few_come) {
  Gathering gathering = with_clients(100);
  gathering.found(1);
  std::uint64_t last_ns = 0;
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(gathering.gathered(5));
    EXPECT_GE(gathering.span_ns(), last_ns);
    last_ns = gathering.span_ns();
  }
  EXPECT_EQ(last_ns, limits::gather_longest_ns);
}

// Clients that all wait for the server: every nap would be lost time.
TEST(Gathering, ends_when_naps_find_most_of_the_clients) {
  Gathering gathering = with_clients(50);
  gathering.found(1);
  int naps = 0;
  for (; gathering.span_ns() != 0; ++naps) {
    EXPECT_TRUE(gathering.gathered(40));
  }
  EXPECT_LE(naps, 3);
}

TEST(Gathering, rests_after_clients_had_to_wait_for_it) {
  Gathering gathering = with_clients(50);
  gathering.found(1);
  while (gathering.span_ns() != 0) {
    EXPECT_TRUE(gathering.gathered(40));
  }
  for (std::uint32_t i = 0; i < limits::gather_rest; ++i) {
    gathering.found(1);
    EXPECT_EQ(gathering.span_ns(), 0u) << i;
  }
  gathering.found(1);
  EXPECT_EQ(gathering.span_ns(), limits::gather_first_ns);
}

// One client program with fifty connections that needs so long for a request.
TEST(Gathering, settles_where_neither_waits_for_the_other) {
  constexpr std::uint64_t request_ns = 6'000;
  Gathering gathering = with_clients(50);
  gathering.found(1);
  for (int i = 0; i < 200; ++i) {
    const std::size_t came = gathering.span_ns() / request_ns;
    EXPECT_TRUE(gathering.gathered(came)) << i;
    EXPECT_LE(came, 25u) << i;
  }
  EXPECT_GE(gathering.span_ns() / request_ns, 12u);
}

}  // namespace
}  // namespace remora::resp
