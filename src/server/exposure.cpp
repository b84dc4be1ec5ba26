#include "server/exposure.h"

#include <fmt/format.h>

#include "base/socket_address.h"

namespace remora::server {
namespace {

bool is_reached_from_elsewhere(const std::string& place) {
  if (place.empty() || place == "auto") {
    return false;
  }
  const Result<SocketAddress> address = SocketAddress::parse(place);
  return address.ok() && !address->is_loopback();
}

Status refused_exposure(const char* key, const std::string& place, const char* what) {
  return Status(
      Code::invalid_argument,
      fmt::format("{}: other machines reach {}: {}; or say --insecure", key, place, what));
}

}  // namespace

Status check_exposure(const Settings& settings) {
  if (settings.insecure) {
    return {};
  }
  const bool has_tokens = !settings.access.tokens.empty();
  if (is_reached_from_elsewhere(settings.listen) && !has_tokens) {
    return refused_exposure("listen", settings.listen,
                            "give the settings tokens ([access.tokens]), or listen at 127.0.0.1");
  }
  if (is_reached_from_elsewhere(settings.resp) && (!has_tokens || settings.tls_cert.empty())) {
    return refused_exposure("resp", settings.resp,
                            "give the settings tokens ([access.tokens]) and TLS (--tls-cert FILE "
                            "--tls-key FILE), or listen at 127.0.0.1");
  }
  if (is_reached_from_elsewhere(settings.metrics)) {
    return refused_exposure("metrics", settings.metrics,
                            "metrics are told to everybody, in clear; listen at 127.0.0.1, and let "
                            "a tunnel or a proxy lead there");
  }
  return {};
}

std::string network_in_short(bool tls) {
  return tls ? "sessions by TLS; values (UDP) are not encrypted: who is on the way reads them, and "
               "can forge them"
             : "not encrypted: who is on the way reads all but the tokens, and can forge it; "
               "--tls-cert encrypts sessions";
}

}  // namespace remora::server
