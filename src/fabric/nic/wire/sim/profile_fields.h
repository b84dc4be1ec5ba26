// The keys of each kind of profile file, the member that each fills, and the bounds beyond which a
// number must be a mistake.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "fabric/nic/wire/sim/profile.h"

namespace remora::fabric::nic::sim {

struct FieldBounds {
  std::string_view key;
  std::uint64_t low;
  std::uint64_t high;
};

// `members[i]` is what the key `bounds[i]` fills.
template <typename Part>
struct Fields {
  std::string_view kind;
  std::vector<FieldBounds> bounds;
  std::vector<std::uint64_t Part::*> members;

  void add(std::string_view key, std::uint64_t Part::*member, std::uint64_t low,
           std::uint64_t high) {
    bounds.push_back({key, low, high});
    members.push_back(member);
  }
};

template <typename Part>
Fields<Part> fields_of();

template <>
inline Fields<NicProfile> fields_of<NicProfile>() {
  Fields<NicProfile> fields{.kind = "nic", .bounds = {}, .members = {}};
  fields.add("bandwidth_bits_per_s", &NicProfile::bandwidth_bits_per_s, 1'000'000'000,
             1'000'000'000'000);
  fields.add("mtu_bytes", &NicProfile::mtu_bytes, 256, 65'536);
  fields.add("link_latency_ns", &NicProfile::link_latency_ns, 10, 100'000);
  fields.add("post_latency_ns", &NicProfile::post_latency_ns, 0, 5000);
  fields.add("dma_read_latency_ns", &NicProfile::dma_read_latency_ns, 50, 5000);
  fields.add("completion_latency_ns", &NicProfile::completion_latency_ns, 0, 5000);
  fields.add("pcie_bytes_per_s", &NicProfile::pcie_bytes_per_s, 1'000'000'000, 200'000'000'000);
  fields.add("receive_latency_ns", &NicProfile::receive_latency_ns, 0, 5000);
  fields.add("work_request_ns", &NicProfile::work_request_ns, 1, 1000);
  fields.add("packet_ns", &NicProfile::packet_ns, 1, 1000);
  fields.add("translation_miss_ns", &NicProfile::translation_miss_ns, 0, 2000);
  fields.add("translation_miss_latency_ns", &NicProfile::translation_miss_latency_ns, 0, 5000);
  fields.add("pin_down_entries", &NicProfile::pin_down_entries, 64, 16'777'216);
  fields.add("log_lookup_ns", &NicProfile::log_lookup_ns, 0, 100'000);
  fields.add("fault_stall_ns", &NicProfile::fault_stall_ns, 1000, 1'000'000);
  fields.add("fault_update_ns", &NicProfile::fault_update_ns, 1000, 1'000'000);
  fields.add("fault_resume_ns", &NicProfile::fault_resume_ns, 1000, 1'000'000);
  return fields;
}

template <>
inline Fields<MemoryProfile> fields_of<MemoryProfile>() {
  Fields<MemoryProfile> fields{.kind = "memory", .bounds = {}, .members = {}};
  fields.add("read_bytes_per_s", &MemoryProfile::read_bytes_per_s, 100'000'000, 1'000'000'000'000);
  fields.add("write_bytes_per_s", &MemoryProfile::write_bytes_per_s, 100'000'000,
             1'000'000'000'000);
  fields.add("flush_line_ns", &MemoryProfile::flush_line_ns, 1, 1000);
  fields.add("flush_clean_line_ns", &MemoryProfile::flush_clean_line_ns, 1, 1000);
  fields.add("fence_ns", &MemoryProfile::fence_ns, 1, 5000);
  fields.add("remote_persist_ns", &MemoryProfile::remote_persist_ns, 10, 10'000);
  return fields;
}

template <>
inline Fields<BlockProfile> fields_of<BlockProfile>() {
  Fields<BlockProfile> fields{.kind = "block", .bounds = {}, .members = {}};
  fields.add("read_latency_ns", &BlockProfile::read_latency_ns, 20, 1'000'000);
  fields.add("write_latency_ns", &BlockProfile::write_latency_ns, 20, 1'000'000);
  fields.add("read_4k_per_s", &BlockProfile::read_4k_per_s, 1000, 10'000'000);
  fields.add("write_4k_per_s", &BlockProfile::write_4k_per_s, 1000, 10'000'000);
  fields.add("read_512_per_s", &BlockProfile::read_512_per_s, 1000, 100'000'000);
  fields.add("write_512_per_s", &BlockProfile::write_512_per_s, 1000, 100'000'000);
  fields.add("read_bytes_per_s", &BlockProfile::read_bytes_per_s, 100'000'000, 1'000'000'000'000);
  fields.add("write_bytes_per_s", &BlockProfile::write_bytes_per_s, 100'000'000, 1'000'000'000'000);
  fields.add("flush_ns", &BlockProfile::flush_ns, 100, 100'000'000);
  return fields;
}

template <>
inline Fields<CpuProfile> fields_of<CpuProfile>() {
  Fields<CpuProfile> fields{.kind = "cpu", .bounds = {}, .members = {}};
  fields.add("crc_ns_per_kb", &CpuProfile::crc_ns_per_kb, 0, 5000);
  fields.add("copy_ns_per_kb", &CpuProfile::copy_ns_per_kb, 10, 2000);
  fields.add("request_ns", &CpuProfile::request_ns, 10, 100'000);
  fields.add("post_ns", &CpuProfile::post_ns, 10, 5000);
  fields.add("poll_ns", &CpuProfile::poll_ns, 1, 5000);
  fields.add("allocate_ns", &CpuProfile::allocate_ns, 10, 50'000);
  fields.add("index_ns", &CpuProfile::index_ns, 10, 50'000);
  fields.add("syscall_ns", &CpuProfile::syscall_ns, 50, 10'000);
  fields.add("interrupt_ns", &CpuProfile::interrupt_ns, 500, 100'000);
  fields.add("minor_fault_ns", &CpuProfile::minor_fault_ns, 100, 100'000);
  fields.add("major_fault_ns", &CpuProfile::major_fault_ns, 1000, 10'000'000);
  fields.add("register_page_ns", &CpuProfile::register_page_ns, 10, 100'000);
  fields.add("qp_state_ns", &CpuProfile::qp_state_ns, 1000, 10'000'000);
  return fields;
}

}  // namespace remora::fabric::nic::sim
