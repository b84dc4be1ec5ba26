// The store's numbers in the text format of OpenMetrics 1.0.
#pragma once

#include <string>

#include "front/resp/server.h"
#include "server/store_host.h"

namespace remora::server {

inline constexpr const char* metrics_content_type =
    "application/openmetrics-text; version=1.0.0; charset=utf-8";

// `redis` is the front end for Redis clients, if there is one.
std::string metrics_text(StoreHost& host, const resp::Server* redis = nullptr);

}  // namespace remora::server
