// LATENCY: what took long, and how long commands take.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "front/resp/families.h"

namespace remora::resp {
namespace {

using Kind = LatencyEvents::Kind;
using Sample = LatencyEvents::Sample;

constexpr std::array<std::string_view, 14> latency_help = {
    "DOCTOR",
    "    A report, for people.",
    "GRAPH <event>",
    "    The samples of an event, drawn.",
    "HISTOGRAM [<command> ...]",
    "    How many timed calls of these commands, or of all, took at most so many microseconds.",
    "HISTORY <event>",
    "    The samples of an event: second, milliseconds.",
    "LATEST",
    "    The last sample of each event, and the longest that it ever took.",
    "RESET [<event> ...]",
    "    Forgets the samples of these events, or of all, and tells of how many events.",
    "(events)",
    "    command, fast-command, commit, cleaning: from latency-monitor-threshold milliseconds on.",
};

// Events that have samples.
std::vector<Kind> kinds_seen(const LatencyEvents& events) {
  std::vector<Kind> seen;
  for (std::size_t i = 0; i < LatencyEvents::names.size(); ++i) {
    if (!events.of(static_cast<Kind>(i)).samples.empty()) {
      seen.push_back(static_cast<Kind>(i));
    }
  }
  return seen;
}

std::string_view name_of(Kind kind) {
  return LatencyEvents::names[static_cast<std::size_t>(kind)];
}

Done latest(Call& call) {
  const LatencyEvents& events = call.executor.latencies();
  const std::vector<Kind> seen = kinds_seen(events);
  call.out.array(seen.size());
  for (const Kind kind : seen) {
    const LatencyEvents::History& history = events.of(kind);
    call.out.array(4);
    call.out.bulk(name_of(kind));
    call.out.integer(static_cast<std::int64_t>(history.samples.back().when_s));
    call.out.integer(static_cast<std::int64_t>(history.samples.back().took_ms));
    call.out.integer(static_cast<std::int64_t>(history.longest_ms));
  }
  return Done::replied;
}

Done history(Call& call) {
  const std::optional<Kind> kind = LatencyEvents::kind_of(call.args[2]);
  if (!kind) {
    call.out.array(0);
    return Done::replied;
  }
  const LatencyEvents::History& history = call.executor.latencies().of(*kind);
  call.out.array(history.samples.size());
  for (const Sample& sample : history.samples) {
    call.out.array(2);
    call.out.integer(static_cast<std::int64_t>(sample.when_s));
    call.out.integer(static_cast<std::int64_t>(sample.took_ms));
  }
  return Done::replied;
}

Done forget(Call& call) {
  LatencyEvents& events = call.executor.latencies();
  std::int64_t count = 0;
  for (const Kind kind : kinds_seen(events)) {
    const bool is_named =
        call.args.size() == 2 ||
        std::ranges::find(call.args.subspan(2), name_of(kind)) != call.args.subspan(2).end();
    count += is_named && events.forget(kind) ? 1 : 0;
  }
  call.out.integer(count);
  return Done::replied;
}

// A line for each sample, as long as it took.
Done graph(Call& call) {
  constexpr std::uint64_t longest_line = 60;
  const std::optional<Kind> kind = LatencyEvents::kind_of(call.args[2]);
  if (!kind || call.executor.latencies().of(*kind).samples.empty()) {
    return fail(call, fmt::format("ERR No samples available for event '{}'",
                                  printed(call.args[2], call.args[2].size())));
  }
  const LatencyEvents::History& history = call.executor.latencies().of(*kind);
  const auto [low, high] = std::ranges::minmax_element(history.samples, {}, &Sample::took_ms);
  std::string text = fmt::format("{} - high {} ms, low {} ms (all time high {} ms)\n",
                                 name_of(*kind), high->took_ms, low->took_ms, history.longest_ms);
  const std::uint64_t now_s = call.executor.runtime().wall_ms() / 1000;
  for (const Sample& sample : history.samples) {
    const std::uint64_t ago_s = now_s > sample.when_s ? now_s - sample.when_s : 0;
    const double part = static_cast<double>(sample.took_ms) / static_cast<double>(high->took_ms);
    const auto length = static_cast<std::size_t>(part * static_cast<double>(longest_line));
    fmt::format_to(std::back_inserter(text), "{:>8} s ago {:>8} ms {}\n", ago_s, sample.took_ms,
                   std::string(std::max<std::size_t>(length, 1), '#'));
  }
  call.out.verbatim(text, call.protocol());
  return Done::replied;
}

// --- The report ---

std::string advice_on(Call& call, Kind kind) {
  const LatencyEvents& events = call.executor.latencies();
  const std::int64_t slow_from_us = call.executor.stats().slow_from_us;
  switch (kind) {
    case Kind::commit:
      return "The medium of the pool took that long to make changes persistent.";
    case Kind::cleaning:
      return "Writes waited for room: a larger pool is cleaned less often.";
    default:
      break;
  }
  if (slow_from_us < 0 || static_cast<std::uint64_t>(slow_from_us) > events.threshold_ms * 1000) {
    return fmt::format(
        "SLOWLOG GET shows such commands after CONFIG SET slowlog-log-slower-than {}.",
        std::min<std::uint64_t>(events.threshold_ms, INT64_MAX / 1000) * 1000);
  }
  return "SLOWLOG GET shows such commands.";
}

std::string report_on(Call& call, Kind kind) {
  const LatencyEvents::History& history = call.executor.latencies().of(kind);
  const auto count = static_cast<double>(history.samples.size());
  double sum_ms = 0;
  for (const Sample& sample : history.samples) {
    sum_ms += static_cast<double>(sample.took_ms);
  }
  const double mean_ms = sum_ms / count;
  double away_ms = 0;
  for (const Sample& sample : history.samples) {
    const double away = static_cast<double>(sample.took_ms) - mean_ms;
    away_ms += away < 0 ? -away : away;
  }
  return fmt::format(
      "{}: samples {}, average {:.0f} ms, mean deviation {:.0f} ms, longest ever {} ms. {}\n",
      name_of(kind), history.samples.size(), mean_ms, away_ms / count, history.longest_ms,
      advice_on(call, kind));
}

Done doctor(Call& call) {
  const LatencyEvents& events = call.executor.latencies();
  const std::vector<Kind> seen = kinds_seen(events);
  std::string text;
  for (const Kind kind : seen) {
    text += report_on(call, kind);
  }
  if (!events.is_on()) {
    text +=
        "Nothing is noted: CONFIG SET latency-monitor-threshold <milliseconds> begins to note what "
        "takes that long.\n";
  } else if (seen.empty()) {
    text += fmt::format("Nothing has taken {} ms or longer.\n", events.threshold_ms);
  }
  call.out.verbatim(text, call.protocol());
  return Done::replied;
}

// --- All times ---

// Bounds as Redis has them: twice the one before, from 1024 ns on. One that adds nothing is left
// out.
void reply_histogram(Call& call, const Histogram& times) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> bounds;  // microseconds, calls
  std::uint64_t before = 0;
  for (std::uint64_t bound_ns = 1024; before < times.count() && bound_ns != 0; bound_ns *= 2) {
    const std::uint64_t calls = times.up_to(bound_ns - 1);
    if (calls != before) {
      bounds.emplace_back(bound_ns / 1000, calls);
    }
    before = calls;
  }
  Output& out = call.out;
  out.map(2, call.protocol());
  out.bulk("calls");
  out.integer(static_cast<std::int64_t>(times.count()));
  out.bulk("histogram_usec");
  out.map(bounds.size(), call.protocol());
  for (const auto& [bound_us, calls] : bounds) {
    out.integer(static_cast<std::int64_t>(bound_us));
    out.integer(static_cast<std::int64_t>(calls));
  }
}

Done histogram(Call& call) {
  const CommandStats& stats = call.executor.stats();
  const Args wanted = call.args.subspan(2);
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < commands().size(); ++i) {
    const auto is_it = [&](std::string_view name) { return is_word(name, commands()[i].name); };
    if (stats.times(i) != nullptr && (wanted.empty() || std::ranges::any_of(wanted, is_it))) {
      found.push_back(i);
    }
  }
  call.out.map(found.size(), call.protocol());
  for (const std::size_t place : found) {
    call.out.bulk(commands()[place].name);
    reply_histogram(call, *stats.times(place));
  }
  return Done::replied;
}

}  // namespace

Done latency(Call& call) {
  if (const std::optional<Done> refused = refuse_subcommand(call)) {
    return *refused;
  }
  const auto is = [&](std::string_view name) { return is_word(call.args[1], name); };
  return is("help")        ? help(call, latency_help)
         : is("latest")    ? latest(call)
         : is("history")   ? history(call)
         : is("reset")     ? forget(call)
         : is("graph")     ? graph(call)
         : is("histogram") ? histogram(call)
                           : doctor(call);
}

}  // namespace remora::resp
