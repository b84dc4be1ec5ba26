// The worlds that the contract is held to on RDMA devices. REMORA_VERBS_DEVICE in the environment
// names the one to test, and it must then be there; else the first is taken, and without one
// nothing is tested, and that is said. REMORA_VERBS_DAX names persistent memory without a file
// system (/dev/dax…), which the FLUSH of a device can make persistent.
// REMORA_VERBS_FAR=ADDRESS:PORT names the agent of another machine (far_agent.cpp): far is then its
// device and its memory, and that alone is tested.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "fabric/verbs/device_list.h"
#include "tests/fabric/verbs_world.h"
#include "tests/fabric/world.h"

namespace remora::fabric::contract {

namespace {

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void add(std::map<std::string, std::string>& parts, const std::string& sentence,
         const std::string& reason) {
  std::string& all = parts[sentence];
  all += (all.empty() ? "" : "; ") + reason;
}

std::map<std::string, std::string> parts_of(const std::string& device, bool reads_after_write) {
  std::map<std::string, std::string> parts;
  add(parts, "P1", "nobody cuts the power of this machine: that bytes may be lost is not seen");
  add(parts, "P6", "nobody cuts the power of this machine: completion and visibility are tested");
  add(parts, "P7", "nobody cuts the power of this machine: completion and visibility are tested");
  if (reads_after_write) {
    add(parts, "R1", "a FLUSH by read-after-write is a READ: rights to flush are not asked for");
  }
  if (device.starts_with("rxe")) {
    add(parts, "F2",
        "Linux rxe calls a message that is too long a remote operation error, and on the "
        "receiver's side a local queue pair operation error");
    add(parts, "F7",
        "this wire loses nothing: made to, Linux rxe at times stands still and repeats nothing");
    add(parts, "R2",
        "Linux rxe sends a READ before it finds that its own piece may not be stored to; nothing "
        "is changed");
    add(parts, "R1", "Linux rxe calls a right that the queue pair lacks a remote invalid request");
  }
  return parts;
}

std::map<std::string, std::string> not_on_devices() {
  std::map<std::string, std::string> sentences;
  for (int number = 1; number <= 12; ++number) {
    sentences["D" + std::to_string(number)] =
        "no RDMA device has verbs of Remora's own; what asks for them is refused";
  }
  return sentences;
}

WorldKind fallback_world(const std::string& device) {
  return {.name = "verbs",
          .make =
              [device](std::uint64_t) {
                return make_verbs_world(
                    {.device = device, .flush = verbs::FlushMethod::read_after_write}, "");
              },
          .not_here = not_on_devices(),
          .in_part = parts_of(device, true)};
}

WorldKind native_world(const std::string& device, const std::string& dax) {
  WorldKind kind = {.name = "verbs_native",
                    .make =
                        [device, dax](std::uint64_t) {
                          return make_verbs_world(
                              {.device = device, .flush = verbs::FlushMethod::native}, dax);
                        },
                    .not_here = not_on_devices(),
                    .in_part = parts_of(device, false)};
  const auto opened =
      verbs::VerbsDevice::open({.device = device, .flush = verbs::FlushMethod::native});
  if (!opened.ok()) {
    kind.absent = opened.status().message();
  } else if (dax.empty()) {
    kind.absent = "the device's FLUSH takes persistent memory alone; name some by REMORA_VERBS_DAX";
  }
  return kind;
}

// Far's agent makes queue pairs and regions, and neither address handles nor shared queues; what is
// lost on one machine is lost as well between two.
std::map<std::string, std::string> not_between_machines() {
  std::map<std::string, std::string> sentences = not_on_devices();
  for (const auto& [letter, count] : {std::pair("U", 11), std::pair("S", 4)}) {
    for (int number = 1; number <= count; ++number) {
      sentences[letter + std::to_string(number)] =
          "far's agent has reliable connections alone; it is tested within one machine";
    }
  }
  return sentences;
}

// Those of two machines. The agent is called once, and serves all their tests.
std::vector<WorldKind> far_worlds(const std::string& device, const std::string& where) {
  const std::size_t colon = where.find(':');
  const int port = colon == where.npos ? 0 : std::atoi(where.substr(colon + 1).c_str());
  std::vector<WorldKind> kinds(2);
  kinds[0].name = "two_machines";
  kinds[1].name = "two_machines_native";
  Result<interop::Talk> called =
      interop::Talk::call(where.substr(0, colon), static_cast<std::uint16_t>(port));
  if (!called.ok()) {
    ADD_FAILURE() << called.status().message();
    kinds[0].absent = kinds[1].absent = called.status().message();
    return kinds;
  }
  static FarTalk talk(std::move(called).value());
  for (WorldKind& kind : kinds) {
    const bool native = &kind == &kinds[1];
    const verbs::VerbsOptions options{
        .device = device,
        .flush = native ? verbs::FlushMethod::native : verbs::FlushMethod::read_after_write};
    kind.make = [options](std::uint64_t) { return make_two_machines_world(options, talk); };
    kind.in_part = parts_of(device, !native);
    kind.not_here = not_between_machines();
    const auto near = verbs::VerbsDevice::open(options);
    const auto far = FarMachine::open(talk, *options.flush);
    if (!near.ok() || !far.ok()) {
      kind.absent = std::string((near.ok() ? far.status() : near.status()).message());
    }
  }
  return kinds;
}

// Says at the end what was tested on what.
class Tally final : public testing::Environment {
 public:
  void TearDown() override {
    const testing::UnitTest& all = *testing::UnitTest::GetInstance();
    for (const WorldKind& kind : all_worlds()) {
      int ran = 0;
      int skipped = 0;
      for (int i = 0; i < all.total_test_suite_count(); ++i) {
        const testing::TestSuite& suite = *all.GetTestSuite(i);
        for (int j = 0; j < suite.total_test_count(); ++j) {
          const testing::TestInfo& test = *suite.GetTestInfo(j);
          if (test.should_run() && std::string(test.name()).ends_with("/" + kind.name)) {
            ++(test.result()->Skipped() ? skipped : ran);
          }
        }
      }
      std::cout << "contract tests on " << kind.name << " (" << device_ << "): " << ran << " ran, "
                << skipped << " skipped\n";
    }
  }
  explicit Tally(std::string device) : device_(std::move(device)) {}

 private:
  const std::string device_;
};

std::vector<WorldKind> make_worlds() {
  std::string device = from_environment("REMORA_VERBS_DEVICE");
  const std::vector<std::string> names = verbs::device_names();
  if (device.empty() && !names.empty()) {
    device = names.front();
  }
  const std::string where = from_environment("REMORA_VERBS_FAR");
  testing::AddGlobalTestEnvironment(
      new Tally(device.empty() ? "no device" : device + (where.empty() ? "" : " to " + where)));
  if (device.empty()) {
    const std::string reason(verbs::no_device().message());
    return {{.name = "verbs", .make = nullptr, .absent = reason},
            {.name = "verbs_native", .make = nullptr, .absent = reason}};
  }
  if (!where.empty()) {
    return far_worlds(device, where);
  }
  return {fallback_world(device), native_world(device, from_environment("REMORA_VERBS_DAX"))};
}

}  // namespace

bool long_run() {
  return false;
}

const std::vector<WorldKind>& all_worlds() {
  static const std::vector<WorldKind> worlds = make_worlds();
  return worlds;
}

}  // namespace remora::fabric::contract
