#include "link/exposure.h"

#include <fmt/format.h>

#include "base/socket_address.h"

namespace remora::link {
namespace {

bool is_reached_from_elsewhere(const std::string& place) {
  if (place.empty()) {
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

Status check_exposure(const Doors& doors) {
  if (doors.is_insecure) {
    return {};
  }
  if (is_reached_from_elsewhere(doors.listen) && !doors.has_tokens) {
    return refused_exposure("listen", doors.listen,
                            "give the settings tokens ([access.tokens]), or listen at 127.0.0.1");
  }
  if (is_reached_from_elsewhere(doors.resp) && (!doors.has_tokens || !doors.has_tls)) {
    return refused_exposure("resp", doors.resp,
                            "give the settings tokens ([access.tokens]) and TLS (--tls-cert FILE "
                            "--tls-key FILE), or listen at 127.0.0.1");
  }
  if (is_reached_from_elsewhere(doors.metrics)) {
    return refused_exposure("metrics", doors.metrics,
                            "metrics are told to everybody, in clear; listen at 127.0.0.1, and let "
                            "a tunnel or a proxy lead there");
  }
  if (is_reached_from_elsewhere(doors.http)) {
    return refused_exposure("http", doors.http,
                            "the live page is for everybody who reaches it, in clear; listen at "
                            "127.0.0.1, and let a tunnel or a proxy lead there");
  }
  return {};
}

std::string network_in_short(bool tls) {
  return tls ? "sessions by TLS; values (UDP) are not encrypted: anybody on the way can read and "
               "forge them"
             : "not encrypted: anybody on the way can read all but the tokens, and forge it; "
               "--tls-cert encrypts sessions";
}

}  // namespace remora::link
