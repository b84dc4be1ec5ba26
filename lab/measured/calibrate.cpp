#include "lab/measured/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

#include "lab/measured/message_echo.h"
#include "lab/measured/probes.h"

namespace remora::lab {
namespace {

using fabric::nic::sim::ProfileListing;
using fabric::nic::sim::ProfileNames;
using fabric::nic::sim::ProfileNumber;

constexpr double ns_per_s = 1e9;

struct Numbers {
  std::string base;  // whose number stands where nothing was measured
  std::map<std::string, std::pair<double, std::string>> measured;
};

Result<ProfileListing> listing_of(const Numbers& numbers) {
  REMORA_TRY_RESULT(listing, fabric::nic::sim::list_profile(numbers.base));
  for (ProfileNumber& number : listing->numbers) {
    const auto found = numbers.measured.find(number.key);
    if (found == numbers.measured.end()) {
      number.source = "not measured: the number of " + numbers.base + ".toml";
      continue;
    }
    number.value = static_cast<std::uint64_t>(std::max(0.0, found->second.first) + 0.5);
    number.source = "measured on this machine: " + found->second.second;
  }
  return std::move(*listing);
}

// A file refuses what lies beyond its bounds, so the numbers are brought within them.
void bring_within(ProfileListing& listing) {
  for (ProfileNumber& number : listing.numbers) {
    const auto [low, high] = fabric::nic::sim::bounds_of(listing.kind, number.key);
    if (number.value < low || number.value > high) {
      number.source += fmt::format("; {} lies beyond what a profile may have", number.value);
      number.value = std::clamp(number.value, low, high);
    }
  }
}

// Of the latencies of verbs, what remains when the calls of the initiator are taken away is the way
// there and back; what a byte more costs is spread over the three queues that it passes.
Numbers nic_numbers(const Verbs& verbs) {
  constexpr double dma_ns = 50;  // the least that a profile may have; it counts in each latency
  const double packet_ns = std::max(1.0, verbs.write_each_ns / 2);
  const double engine_ns = 5 * packet_ns;  // four packets' worth and a work request
  const double more_bytes = static_cast<double>(large_bytes - small_bytes);
  const double byte_ns = std::max(0.003, ((verbs.write_large_ns - verbs.write_small_ns) +
                                          (verbs.read_large_ns - verbs.read_small_ns)) /
                                             2 / more_bytes);
  const double way_ns = (verbs.write_small_ns + verbs.read_small_ns) / 2 - verbs.post_ns -
                        verbs.poll_ns - engine_ns - dma_ns -
                        byte_ns * static_cast<double>(small_bytes);
  const std::string per_byte = fmt::format(
      "a WRITE of 4 KB takes {:.0f} ns and one of 64 B {:.0f}, a READ {:.0f} and {:.0f}; a third "
      "of "
      "what each byte more costs",
      verbs.write_large_ns, verbs.write_small_ns, verbs.read_large_ns, verbs.read_small_ns);
  const std::string each =
      fmt::format("half of the {:.0f} ns that a 64 B WRITE takes where {} are in flight",
                  verbs.write_each_ns, deep);
  return {
      .base = "connectx-5",
      .measured = {
          {"link_latency_ns",
           {way_ns / 2, fmt::format("half of a 64 B WRITE or READ ({:.0f} and {:.0f} ns), less "
                                    "what its packets, its post and its poll take",
                                    verbs.write_small_ns, verbs.read_small_ns)}},
          {"post_latency_ns", {0, "within link_latency_ns"}},
          {"receive_latency_ns", {0, "within link_latency_ns"}},
          {"completion_latency_ns", {0, "within link_latency_ns"}},
          {"dma_read_latency_ns", {dma_ns, "within link_latency_ns, but for the least there is"}},
          {"work_request_ns", {packet_ns, each}},
          {"packet_ns", {packet_ns, each}},
          {"pcie_bytes_per_s", {3 * ns_per_s / byte_ns, per_byte}},
          {"bandwidth_bits_per_s", {3 * 8 * ns_per_s / byte_ns, per_byte}},
          {"translation_miss_ns", {0, "a key leads to memory by a table of the device"}},
          {"translation_miss_latency_ns", {0, "as translation_miss_ns"}},
          {"pin_down_entries", {16'777'216, "all of that table is in memory"}}}};
}

Numbers memory_numbers(const Handling& work) {
  return {.base = "dram",
          .measured = {
              {"read_bytes_per_s", {work.read_bytes_per_s, "one processor's loads of 64 MB"}},
              {"write_bytes_per_s", {work.write_bytes_per_s, "one processor's stores to 64 MB"}},
              {"flush_line_ns", {work.line_ns, "each line more of a flush and drain of 4 KB"}},
              {"flush_clean_line_ns",
               {work.clean_line_ns, "the same of lines that nobody has changed"}},
              {"fence_ns", {work.fence_ns, "a flush and drain of one line, less flush_line_ns"}},
              {"remote_persist_ns", {work.fence_ns, "a drain, as fence_ns"}}}};
}

Numbers cpu_numbers(const Verbs& verbs, const Handling& work) {
  return {
      .base = "xeon",
      .measured = {
          {"crc_ns_per_kb", {work.crc_kb_ns, "a quarter of a checksum of 4 KB"}},
          {"copy_ns_per_kb", {work.copy_kb_ns, "a quarter of a copy of 4 KB to memory"}},
          {"post_ns", {verbs.post_ns, "the call that posts a WRITE of 64 B, in the middle"}},
          {"poll_ns",
           {verbs.poll_ns + std::max(0.0, verbs.flow_ns - verbs.write_small_ns),
            fmt::format("the poll that finds it completed, {:.0f} ns, and what a flow that waits "
                        "for it takes beside: {:.0f} ns in place of {:.0f}",
                        verbs.poll_ns, verbs.flow_ns, verbs.write_small_ns)}},
          {"request_ns", {10, "the least there is, until the echo of a message is known"}},
          {"allocate_ns", {work.store_ns, "a line stored where nothing was stored yet"}},
          {"index_ns",
           {work.index_ns, "one load from somewhere in 1 MB, which depends on the one before"}},
          {"syscall_ns", {work.syscall_ns, "getppid"}}}};
}

ProfileNumber& number_of(ProfileListing& listing, std::string_view key) {
  return *std::ranges::find(listing.numbers, key, &ProfileNumber::key);
}

// What a request costs beyond all else: what a call takes longer than the model has it that knows
// of everything but that.
Status add_request(const Verbs& verbs, Calibration& calibration) {
  fabric::nic::sim::Profile profile;
  for (const ProfileListing* listing : {&calibration.nic, &calibration.memory, &calibration.cpu}) {
    for (const ProfileNumber& number : listing->numbers) {
      REMORA_TRY(fabric::nic::sim::set_number(
          profile, fmt::format("{}.{}", listing->kind, number.key), number.value));
    }
  }
  REMORA_TRY_RESULT(modelled_ns, model_echo(profile, 100));
  ProfileNumber& request = number_of(calibration.cpu, "request_ns");
  request.value += static_cast<std::uint64_t>(std::max(0.0, verbs.echo_ns - *modelled_ns));
  request.source = fmt::format(
      "measured on this machine: a call of {} B to a service that does nothing takes {:.0f} ns; "
      "this is what the other numbers leave of that",
      echo_bytes, verbs.echo_ns);
  bring_within(calibration.cpu);
  return {};
}

}  // namespace

Result<Calibration> calibrate(const CalibrationOptions& options) {
  if (options.wire != link::WireKind::ring && options.wire != link::WireKind::mapped) {
    return Status(Code::invalid_argument, "calibrated are the wires of one host: ring and mapped");
  }
  REMORA_TRY_RESULT(verbs, measure_verbs(options));
  REMORA_TRY_RESULT(work, measure_handling());
  Calibration calibration;
  for (const auto& [into, numbers] : {std::pair(&Calibration::nic, nic_numbers(*verbs)),
                                      std::pair(&Calibration::memory, memory_numbers(*work)),
                                      std::pair(&Calibration::cpu, cpu_numbers(*verbs, *work))}) {
    REMORA_TRY_RESULT(listing, listing_of(numbers));
    bring_within(*listing);
    calibration.*into = std::move(*listing);
  }
  REMORA_TRY(add_request(*verbs, calibration));
  calibration.one_sided_work =
      verbs->by_initiator
          ? "the initiator's processor executes READs and WRITEs, as loads and stores"
          : "the target's processor executes READs and WRITEs, in the loop that serves requests";
  return calibration;
}

std::string to_toml(const ProfileListing& listing, std::string_view about) {
  std::string text = fmt::format("# {}\nkind = \"{}\"\n", about, listing.kind);
  for (const ProfileNumber& number : listing.numbers) {
    text += fmt::format("\n[{}]\nvalue = {}\nsource = \"{}\"\n", number.key, number.value,
                        number.source);
  }
  return text;
}

Result<ProfileNames> write_profiles(const Calibration& calibration, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return os_failure("cannot make the folder " + folder, error.value());
  }
  const auto write = [&](const ProfileListing& listing) -> Result<std::string> {
    const std::string path = fmt::format("{}/{}.toml", folder, listing.kind);
    std::ofstream file(path, std::ios::trunc);
    file << to_toml(listing, "This machine, as `remora nic calibrate` found it.");
    file.close();
    return file ? Result<std::string>(path)
                : Result<std::string>(os_failure("cannot write " + path, errno));
  };
  REMORA_TRY_RESULT(nic, write(calibration.nic));
  REMORA_TRY_RESULT(memory, write(calibration.memory));
  REMORA_TRY_RESULT(cpu, write(calibration.cpu));
  ProfileNames names;
  names.nic = *nic;
  names.memory = *memory;
  names.cpu = *cpu;
  return names;
}

}  // namespace remora::lab
