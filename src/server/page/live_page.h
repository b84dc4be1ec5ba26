// LivePage: a page for people that shows what a server does, now and for the last hour, in any
// browser: one document that loads nothing from elsewhere. It is a user of what metrics read, so a
// system that describes its counters is shown.
//
//   /          the page
//   /history   JSON: `columns`, whether what each counts only `grows`, and `rows`: for each sample
//   of
//              the last hour its second since 1970, and a number or null for each column
//   /events    server-sent events: `facts`, a `row`, and the Redis commands that were `slow`, once
//   a
//              second
//   /health    200, or 503 and what is wrong
//
// It takes a sample once a second: some ten microseconds. Events are written only where somebody
// listens. One thread, the loop's. Loop, host and Redis front outlive it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/histogram.h"
#include "base/result.h"
#include "front/resp/server.h"
#include "runtime/runtime.h"
#include "server/http_responder.h"
#include "server/page/history.h"
#include "server/readings.h"
#include "server/store_host.h"

namespace remora::server {

struct LivePageOptions {
  std::string address = {};  // as HttpResponderOptions has these
  bool own_names_only = true;
};

class LivePage {
 public:
  // `redis` is null where there is none.
  static Result<std::unique_ptr<LivePage>> open(Runtime& runtime, const LivePageOptions& options,
                                                StoreHost& host, const resp::Server* redis);
  LivePage(const LivePage&) = delete;
  LivePage& operator=(const LivePage&) = delete;

  std::uint16_t port() const { return responder_->port(); }

 private:
  static constexpr std::uint64_t period_ns = 1'000'000'000;
  class Clock final : public Timer {
   public:
    explicit Clock(LivePage& owner) : owner_(owner) {}
    void expire() override { owner_.tick(); }

   private:
    LivePage& owner_;
  };

  LivePage(Runtime& runtime, StoreHost& host, const resp::Server* redis)
      : runtime_(runtime), host_(host), redis_(redis), history_(name_columns()) {}

  std::vector<std::string> name_columns();
  // Of the last second, in the order of the columns.
  std::vector<double> sample();
  void tick();
  const std::string& history_json();
  std::string event_json(std::uint64_t second, const std::vector<double>& values) const;

  Runtime& runtime_;
  StoreHost& host_;
  const resp::Server* const redis_;
  std::vector<bool> grows_;  // for each column
  History history_;
  std::vector<Histogram> before_;  // each latency, a second ago
  std::string history_text_;       // since the last sample, once somebody has asked
  std::unique_ptr<HttpResponder> responder_;
  Clock clock_{*this};
};

// The document, built into the program.
std::string_view live_page_text();

}  // namespace remora::server
