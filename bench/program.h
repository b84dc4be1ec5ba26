// Program: what every program of claims has: its options, its groups, and the report that it
// prints, as text or as JSON, with the state that the machine was in.
//
// A time is never a failure. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bench/claim.h"

namespace CLI {
class App;
}

namespace remora::bench {

struct RunOptions {
  std::uint64_t rounds = 0;  // 0: as many as suit the group
  bool quick = false;        // a few seconds in all: shows that it works, and no more
};

class Program {
 public:
  // The options are filled in by run(), before anything is measured; they outlive the program.
  Program(std::string name, const std::string& about, RunOptions& options);
  ~Program();

  // For options of its own.
  CLI::App& app() { return *app_; }
  // A group of claims, which people ask for by its name; measured in the order of these calls.
  void add_group(std::string name, std::function<Result<Claims>()> measure);
  // A number that tells the state of the machine, taken before the first group and after the last.
  // The unit stands last in the name.
  void add_fact(std::string name, std::function<double()> take);
  // Asked before anything is measured; a failure ends the program with its exit status.
  void require(std::function<Status()> check);

  // Whether the group is to be measured: all are, unless some were asked for.
  bool wants(std::string_view group) const;

  // Reads the options, measures, prints; returns the exit status.
  int run(int argc, char** argv);

 private:
  struct Group {
    std::string name;
    std::function<Result<Claims>()> measure;
  };
  struct Fact {
    std::string name;
    std::function<double()> take;
  };

  void add_common_options();
  int measure();
  int refuse(const Status& status) const;
  void take_facts(nlohmann::ordered_json& machine, std::string_view when) const;

  const std::string name_;
  RunOptions& options_;
  std::unique_ptr<CLI::App> app_;
  std::vector<Group> groups_;
  std::vector<Fact> facts_;
  std::function<Status()> check_ = [] { return Status(); };
  std::vector<std::string> only_;
  bool json_ = false;
};

}  // namespace remora::bench
