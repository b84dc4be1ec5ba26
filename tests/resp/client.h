// A client that blocks: it sends bytes, and reads whole replies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace remora::resp {

class Client {
 public:
  // Connected to the loopback; aborts the test program when nobody listens.
  explicit Client(std::uint16_t port);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();

  // Whether all of it could be sent.
  bool send(const std::string& bytes) const;
  // One reply, as it came, or "closed". Maps, sets and arrays with all that is in them.
  std::string read();
  std::string ask(const std::vector<std::string>& args) {
    send(encode(args));
    return read();
  }
  // Whether the server has closed the connection, and nothing is left to read.
  bool is_closed();
  // Whether bytes come within this time.
  bool is_readable(int timeout_ms) const;

  static std::string encode(const std::vector<std::string>& args);

 private:
  bool fill();
  std::string line();

  int descriptor_;
  std::string buffer_;
};

// The bulk strings in a reply, in order.
std::vector<std::string> bulks_of(const std::string& reply);

}  // namespace remora::resp
