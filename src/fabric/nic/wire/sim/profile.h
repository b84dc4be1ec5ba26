// Hardware profiles: what a simulated machine's parts cost, as data. The files are profiles/*.toml;
// each holds one part, and each of its numbers stands beside the source that it was taken from.
// They are built into the program, so that it finds them wherever it runs; a path names another.
//
// A file that cannot be used is an invalid_argument whose message names file, line and key.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace remora::fabric::nic::sim {

// An RNIC and its link. "Cost" is time for which an engine is busy, and bounds the rate; "latency"
// is time that passes while others go on.
struct NicProfile {
  std::uint64_t bandwidth_bits_per_s = 0;
  std::uint64_t mtu_bytes = 0;
  std::uint64_t link_latency_ns = 0;        // from one NIC to the other, switch included
  std::uint64_t post_latency_ns = 0;        // from posting until the NIC takes the request up
  std::uint64_t dma_read_latency_ns = 0;    // the first bytes of a payload from host memory
  std::uint64_t completion_latency_ns = 0;  // from the NIC's last step until a poll finds it
  std::uint64_t pcie_bytes_per_s = 0;
  std::uint64_t receive_latency_ns = 0;   // a packet's way through the receiving NIC
  std::uint64_t work_request_ns = 0;      // cost
  std::uint64_t packet_ns = 0;            // cost, on each side
  std::uint64_t translation_miss_ns = 0;  // cost
  std::uint64_t translation_miss_latency_ns = 0;
  std::uint64_t pin_down_entries = 0;
  std::uint64_t log_lookup_ns = 0;   // SFlush: the responder finds where a message lies
  std::uint64_t fault_stall_ns = 0;  // RNIC page fault: the queue pair stalls, an interrupt comes
  std::uint64_t fault_update_ns = 0;
  std::uint64_t fault_resume_ns = 0;
};

struct MemoryProfile {
  std::uint64_t read_bytes_per_s = 0;
  std::uint64_t write_bytes_per_s = 0;    // of the medium, for all who write to it
  std::uint64_t flush_line_ns = 0;        // a CPU writes one dirty line back
  std::uint64_t flush_clean_line_ns = 0;  // or finds that the line is clean
  std::uint64_t fence_ns = 0;             // and waits for those before
  std::uint64_t remote_persist_ns = 0;    // an RDMA FLUSH, once the bytes are placed
};

struct BlockProfile {
  std::uint64_t read_latency_ns = 0;
  std::uint64_t write_latency_ns = 0;
  std::uint64_t read_4k_per_s = 0;
  std::uint64_t write_4k_per_s = 0;
  std::uint64_t read_512_per_s = 0;
  std::uint64_t write_512_per_s = 0;
  std::uint64_t read_bytes_per_s = 0;
  std::uint64_t write_bytes_per_s = 0;
  std::uint64_t flush_ns = 0;
};

struct CpuProfile {
  std::uint64_t crc_ns_per_kb = 0;
  std::uint64_t copy_ns_per_kb = 0;
  std::uint64_t request_ns = 0;  // a small request: parse, hash, look up
  std::uint64_t post_ns = 0;
  std::uint64_t poll_ns = 0;
  std::uint64_t allocate_ns = 0;
  std::uint64_t index_ns = 0;
  std::uint64_t syscall_ns = 0;
  std::uint64_t interrupt_ns = 0;
  std::uint64_t minor_fault_ns = 0;
  std::uint64_t major_fault_ns = 0;
  std::uint64_t register_page_ns = 0;
  std::uint64_t qp_state_ns = 0;
};

// A machine, by its parts.
struct Profile {
  NicProfile nic;
  MemoryProfile memory;
  BlockProfile block;
  CpuProfile cpu;
};

struct ProfileNames {
  std::string nic = "connectx-5";
  std::string memory = "optane";
  std::string block = "p5800x";
  std::string cpu = "xeon";
};

// Each name is that of a built-in profile, or a path (anything with a '/' or that ends in .toml).
Result<Profile> load_profile(const ProfileNames& names = {});
Result<NicProfile> load_nic_profile(std::string_view name_or_path);
Result<MemoryProfile> load_memory_profile(std::string_view name_or_path);
Result<BlockProfile> load_block_profile(std::string_view name_or_path);
Result<CpuProfile> load_cpu_profile(std::string_view name_or_path);

// The same from text; `file` is what messages call it.
Result<NicProfile> parse_nic_profile(std::string_view text, std::string_view file);
Result<MemoryProfile> parse_memory_profile(std::string_view text, std::string_view file);
Result<BlockProfile> parse_block_profile(std::string_view text, std::string_view file);
Result<CpuProfile> parse_cpu_profile(std::string_view text, std::string_view file);

// Sets one number: "memory.flush_line_ns", the part before the dot. What its file may have, it may
// be set to; anything else is an invalid_argument that names what there is.
Status set_number(Profile& profile, std::string_view key, std::uint64_t value);

// One number of a profile with where it comes from, for people.
struct ProfileNumber {
  std::string key;
  std::uint64_t value = 0;
  std::string source;
};

// A built-in profile as it stands in its file.
struct ProfileText {
  std::string_view name;
  std::string_view text;
};
const std::vector<ProfileText>& built_in_profiles();

// What kind of part the profile describes ("nic", "memory", "block", "cpu") and all its numbers, in
// the order of its keys; fails as loading it does.
struct ProfileListing {
  std::string kind;
  std::vector<ProfileNumber> numbers;
};
Result<ProfileListing> list_profile(std::string_view name_or_path);

// Between which numbers a file of this kind may have the key: the least, and the most. The key is
// one of the kind's.
std::pair<std::uint64_t, std::uint64_t> bounds_of(std::string_view kind, std::string_view key);

}  // namespace remora::fabric::nic::sim
