// The store's numbers in the text format of OpenMetrics 1.0.
#pragma once

#include <string>

#include "resp/command.h"
#include "server/store_host.h"

namespace remora::server {

inline constexpr const char* metrics_content_type =
    "application/openmetrics-text; version=1.0.0; charset=utf-8";

// `redis` is what the front end for Redis clients has counted, if there is one.
std::string metrics_text(StoreHost& host, const resp::Counters* redis = nullptr);

}  // namespace remora::server
