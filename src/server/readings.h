// Readings: the numbers that a server tells of itself, in one list that metrics and the live page
// show.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/histogram.h"
#include "front/resp/server.h"
#include "server/store_host.h"

namespace remora::server {

struct Reading {
  std::string name;             // of the metric, as OpenMetrics has it, but for "_total"
  std::string_view label = {};  // op="put"; those of one name stand together
  std::string_view help = {};   // a sentence without its full stop; empty for a further label
  bool grows = false;           // it never shrinks while the server lives
  double value = 0;
  // How long something took, in nanoseconds, since the beginning; then there is no value. It is the
  // server's own, and changes with it.
  const Histogram* latency_ns = nullptr;
};

// `redis` is the front end for Redis clients, if there is one. The same list every time, in the
// same order, as long as the server lives.
std::vector<Reading> readings(StoreHost& host, const resp::Server* redis = nullptr);

// The same of the front end for Redis clients, as a store's facts have it.
Facts redis_facts(const resp::Server& redis);

}  // namespace remora::server
