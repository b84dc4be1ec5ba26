// The store's numbers in the text format of OpenMetrics 1.0.
#pragma once

#include <string>

#include "server/store_host.h"

namespace remora::server {

inline constexpr const char* metrics_content_type =
    "application/openmetrics-text; version=1.0.0; charset=utf-8";

std::string metrics_text(StoreHost& host);

}  // namespace remora::server
