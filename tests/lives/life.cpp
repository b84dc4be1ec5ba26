#include "tests/lives/life.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

namespace remora::fabric::lives {
namespace {

constexpr unsigned hang_s = 200;               // for one life, whatever its parts wait for
constexpr std::uint64_t after_ns = 1'000'000;  // in which a late byte could still come

LoadPlan limited(LoadPlan plan, Random& random) {
  plan.limit = random.between(20, 80);
  return plan;
}

}  // namespace

Life::Life(const WireKind& kind, nic::ring::HostEnd peer_end, int signal, const std::string& folder)
    : kind_(kind), peer_end_(peer_end), signal_(signal), folder_(folder), survivor_(kind) {
  if (peer_end == nic::ring::HostEnd::connector) {
    EXPECT_TRUE(survivor_.listen(path("survivor")).ok());
  }
  before_ = Census::take(folder);
}

Life::~Life() {
  alarm(0);
}

// Where a peer of this name is to be met.
std::string Life::peer_path(const char* name) const {
  return path(peer_end_ == nic::ring::HostEnd::connector ? "survivor" : name);
}

Line* Life::meet(Child& child, const std::string& path, const LineOptions& options) {
  if (peer_end_ == nic::ring::HostEnd::connector) {
    survivor_.expect(options);
    // One that is gone by now has left its messages, as long as there is a link.
    survivor_.run_until(
        [&] { return survivor_.arrived() != nullptr || (child.gone() && survivor_.links() == 0); },
        20'000);
    return survivor_.arrived();
  }
  survivor_.run_until([&] { return child.told("ready") || child.gone(); }, 20'000);
  const Result<Line*> line = survivor_.join(path, options);
  EXPECT_TRUE(line.ok()) << line.status().message();
  return line.ok() ? *line : nullptr;
}

void Life::strike(Child& child, const Line& line, const Blow& blow) {
  if (!blow.own_requests) {
    const Load& load = *line.load;
    survivor_.run_until([&] { return load.completed() >= blow.completions || load.failed(); },
                        20'000);
    survivor_.run_for(blow.span_ns);
    child.send(blow.signal);
  }
  EXPECT_TRUE(survivor_.run_until([&] { return child.gone() || child.stopped(); }, 20'000))
      << "the blow does not fall";
  EXPECT_EQ(child.trouble(), signal_ == SIGKILL ? "signal 9 has ended it" : "it is stopped");
  outstanding_ += line.load->outstanding();
}

// All that is outstanding completes, and the link goes.
void Life::part(Line& line) {
  const Load& load = *line.load;
  if (signal_ == SIGSTOP) {
    // A request that was answered just before the blow has the time begin anew; requests that the
    // survivor has not sent, since none was outstanding, have no time at all.
    const std::uint64_t end_ns = survivor_.now_ns() + 2 * time_out_ns;
    survivor_.run_until([&] { return load.ended() || survivor_.now_ns() >= end_ns; });
    cut_off_ += load.ended() ? 0U : 1U;
    survivor_.cut_off(line);
  }
  EXPECT_TRUE(survivor_.run_until([&] { return load.ended() && survivor_.links() == 0; }, 20'000))
      << load.outstanding() << " requests never complete, " << survivor_.links() << " links stay";
  EXPECT_EQ(load.complaint(), "");
  EXPECT_EQ(line.qp->state(), QpState::error);
  EXPECT_EQ(line.area.flaw(), "");
  survivor_.end(line);
}

void Life::work_with_another(const LoadPlan& its_plan, const LoadPlan& own_plan) {
  // A listener that was killed has left its socket: another takes its place there.
  const std::string path = peer_path(signal_ == SIGKILL ? "victim" : "witness");
  Child child([&](const Teller& teller) { witness(teller, {kind_, peer_end_, path, its_plan}); });
  Line* line = meet(child, path, {.area = 1, .plan = own_plan});
  if (line == nullptr) {
    ADD_FAILURE() << "no new connection: " << child.told_after("wrong: ");
    return;
  }
  const Load& load = *line->load;
  EXPECT_TRUE(survivor_.run_until(
      [&] { return load.failed() || (load.finished() && line->peer_is_through); }, 20'000));
  EXPECT_TRUE(load.finished()) << "requests over the new connection fail";
  EXPECT_EQ(load.complaint(), "");
  EXPECT_EQ(line->area.flaw(), "");
  survivor_.end(*line);
  expect_well(child);
}

void Life::expect_well(Child& child) {
  EXPECT_TRUE(survivor_.run_until([&] { return child.gone(); }, 20'000));
  EXPECT_EQ(child.trouble(), "");
  EXPECT_EQ(child.told_after("wrong: "), "");
  if (Line* line = survivor_.arrived()) {
    survivor_.end(*line);
  }
  EXPECT_TRUE(survivor_.run_until([&] { return survivor_.links() == 0; }, 20'000));
}

// The memory could not be had from it in any other way.
void Life::expect_ended(Child& child) {
  EXPECT_TRUE(survivor_.run_until([&] { return child.gone(); }, 20'000));
  EXPECT_EQ(child.trouble(), "signal 9 has ended it");
  if (peer_end_ == nic::ring::HostEnd::listener) {
    Party next(kind_);  // takes its place at the socket that it left
    EXPECT_TRUE(next.listen(peer_path("victim")).ok());
  }
}

void Life::resume(Child& child, std::byte filled) {
  survivor_.expect({.area = 1, .plan = {}});
  child.send(SIGCONT);
  if (survivor_.station().ended() != ended_) {
    ++ended_;
    expect_ended(child);
  } else {
    expect_well(child);
    const std::string late = child.told_after("late: ");
    EXPECT_NE(late, "") << "it did not come to its end";
    late_ += late.empty() ? 0 : std::stoull(late);
  }
  EXPECT_EQ(survivor_.station().ended(), ended_);
  survivor_.run_for(after_ns);
  EXPECT_EQ(survivor_.area(0).change_from(filled), "");
}

void Life::outlive(std::uint64_t seed) {
  alarm(hang_s);
  Random random(seed);
  const Blow blow = Blow::draw(random, signal_);
  const LoadPlan plans[] = {LoadPlan::draw(random), LoadPlan::draw(random),
                            limited(LoadPlan::draw(random), random),
                            limited(LoadPlan::draw(random), random)};
  survivor_.area(0).reset();
  survivor_.area(1).reset();
  {
    const std::string path = peer_path("victim");
    Child child([&](const Teller& teller) {
      victim(teller, {kind_, peer_end_, path, plans[0]}, blow);
    });
    const std::uint64_t patience_ns = signal_ == SIGSTOP ? timeout_ns : patient_ns;
    Line* line = meet(child, path, {.timeout_ns = patience_ns, .area = 0, .plan = plans[1]});
    if (line == nullptr) {
      ADD_FAILURE() << "no connection: " << child.told_after("wrong: ");
      return;
    }
    strike(child, *line, blow);
    part(*line);
    const std::byte filled{static_cast<std::uint8_t>(random.next())};
    if (signal_ == SIGSTOP) {
      survivor_.renew_memory();
      survivor_.area(0).fill(filled);
    }
    work_with_another(plans[2], plans[3]);
    if (signal_ == SIGSTOP) {
      resume(child, filled);
    }
  }
  EXPECT_EQ(Census::take(folder_), before_);
  ++lives_;
}

std::string Life::summary() {
  std::string text = std::to_string(lives_) + " peers, " + std::to_string(outstanding_) +
                     " requests outstanding at the blow";
  if (signal_ == SIGSTOP) {
    text += ", " + std::to_string(cut_off_) + " peers cut off by hand after the time-out, " +
            std::to_string(late_) + " additions executed by those that went on";
  }
  if (kind_.has_short_cut) {
    text += ", " + std::to_string(short_cuts()) + " requests by the short cut, " +
            std::to_string(ended_) + " peers ended in the middle of one";
  }
  return text;
}

}  // namespace remora::fabric::lives
