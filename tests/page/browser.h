// Browser: a headless Chromium, driven by WebDriver through chromedriver, for tests of what a
// person sees. Both are Debian's packages; tests without them are skipped, and say so.
//
// Blocks. One thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/process.h"

namespace remora::page {

// Which program is not on this machine; empty: a browser can be had.
std::string missing_program();

class Browser {
 public:
  // Its files are kept in that folder. Throws std::runtime_error where it does not start.
  explicit Browser(const std::string& folder);
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;
  ~Browser();

  void resize(int width, int height);
  void open(const std::string& url);
  // What a function with this body returns.
  nlohmann::json run(const std::string& script);
  // Writes what is seen as PNG.
  void save_picture(const std::string& path);

 private:
  // The driver's answer to a request, or an exception with what it says is wrong.
  nlohmann::json ask(const std::string& method, const std::string& path,
                     const nlohmann::json& body = nlohmann::json::object());
  nlohmann::json devtools(const std::string& command, const nlohmann::json& parameters);

  RunningProcess driver_;
  int port_ = 0;         // of the driver
  std::string session_;  // the path of its requests
};

}  // namespace remora::page
