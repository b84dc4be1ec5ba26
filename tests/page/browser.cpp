#include "tests/page/browser.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <vector>

namespace remora::page {
namespace {

using nlohmann::json;

constexpr const char* chromium = "/usr/bin/chromium";
constexpr const char* chromedriver = "/usr/bin/chromedriver";

// A new connection to the driver, which is on this machine.
int connect_to(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const timeval patience = {.tv_sec = 120, .tv_usec = 0};
  (void)::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(socket);
    return -1;
  }
  return socket;
}

// The body of the answer.
std::string talk(int socket, const std::string& request) {
  std::string answer;
  std::array<char, 65536> buffer;
  std::size_t size = std::string::npos;
  if (::send(socket, request.data(), request.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(request.size())) {
    return "";
  }
  while (answer.size() < size) {
    const ssize_t got = ::recv(socket, buffer.data(), buffer.size(), 0);
    if (got <= 0) {
      break;
    }
    answer.append(buffer.data(), static_cast<std::size_t>(got));
    const std::size_t head = answer.find("\r\n\r\n");
    const std::size_t length = answer.find("Content-Length:");
    if (head != answer.npos && length < head) {
      size = head + 4 + std::strtoull(answer.c_str() + length + 15, nullptr, 10);
    }
  }
  const std::size_t head = answer.find("\r\n\r\n");
  return head == answer.npos ? "" : answer.substr(head + 4);
}

std::string from_base64(const std::string& text) {
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0;
  unsigned count = 0;
  for (const char letter : text) {
    const std::size_t value = letters.find(letter);
    if (value == letters.npos) {
      continue;
    }
    bits = bits << 6 | static_cast<unsigned>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> count & 0xff);
    }
  }
  return bytes;
}

// Nothing of this reaches for any other machine.
json capabilities(const std::string& folder) {
  const json arguments = {"--headless=new",
                          "--no-sandbox",
                          "--disable-gpu",
                          "--disable-dev-shm-usage",
                          "--disable-quic",
                          "--no-first-run",
                          "--disable-background-networking",
                          "--disable-component-update",
                          "--disable-sync",
                          "--hide-scrollbars",
                          "--user-data-dir=" + folder};
  const json options = {{"binary", chromium}, {"args", arguments}};
  return {{"capabilities", {{"alwaysMatch", {{"goog:chromeOptions", options}}}}}};
}

}  // namespace

std::string missing_program() {
  for (const char* program : {chromium, chromedriver}) {
    if (::access(program, X_OK) != 0) {
      return program;
    }
  }
  return "";
}

// The driver chooses a port, and says which.
Browser::Browser(const std::string& folder)
    : driver_(std::vector<std::string>{chromedriver, "--port=0"}) {
  const std::string before = "started successfully on port ";
  std::string said;
  for (int i = 0; i < 6000 && said.find(before) == said.npos && !driver_.ended(); ++i) {
    (void)::poll(nullptr, 0, 10);
    said = driver_.out();
  }
  if (said.find(before) == said.npos) {
    throw std::runtime_error("chromedriver does not start: " + said + driver_.err());
  }
  port_ = std::atoi(said.c_str() + said.find(before) + before.size());
  const json made = ask("POST", "/session", capabilities(folder));
  session_ = "/session/" + made.at("sessionId").get<std::string>();
}

Browser::~Browser() {
  try {
    (void)ask("DELETE", session_);
  } catch (const std::exception&) {
    // The driver has gone, and the browser with it.
  }
  driver_.signal(SIGTERM);
  (void)driver_.wait();
}

json Browser::ask(const std::string& method, const std::string& path, const json& body) {
  const std::string text = method == "POST" ? body.dump() : "";
  const int socket = connect_to(port_);
  const std::string answer =
      talk(socket, method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n" +
                       "Content-Type: application/json\r\nContent-Length: " +
                       std::to_string(text.size()) + "\r\nConnection: close\r\n\r\n" + text);
  ::close(socket);
  const json value = json::parse(answer).at("value");
  if (value.is_object() && value.contains("error")) {
    throw std::runtime_error(value.at("message").get<std::string>());
  }
  return value;
}

json Browser::devtools(const std::string& command, const json& parameters) {
  return ask("POST", session_ + "/goog/cdp/execute", {{"cmd", command}, {"params", parameters}});
}

void Browser::resize(int width, int height) {
  (void)devtools(
      "Emulation.setDeviceMetricsOverride",
      {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", false}});
}

void Browser::open(const std::string& url) {
  (void)ask("POST", session_ + "/url", {{"url", url}});
}

json Browser::run(const std::string& script) {
  return ask("POST", session_ + "/execute/sync", {{"script", script}, {"args", json::array()}});
}

void Browser::save_picture(const std::string& path) {
  const std::string bytes = from_base64(ask("GET", session_ + "/screenshot").get<std::string>());
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace remora::page
