#include "fabric/verbs/port_counters.h"

#include <fstream>
#include <initializer_list>

namespace remora::fabric::verbs {
namespace {

// The first of these files that is there: drivers name them differently.
std::uint64_t count_in(const std::string& folder, std::initializer_list<const char*> files) {
  for (const char* file : files) {
    std::ifstream in(folder + "/" + file);
    std::uint64_t count = 0;
    if (in >> count) {
      return count;
    }
  }
  return 0;
}

}  // namespace

DeviceCounters read_port_counters(const std::string& port_folder) {
  const auto count = [&](std::initializer_list<const char*> files) {
    return count_in(port_folder, files);
  };
  DeviceCounters counters;
  counters.packets_sent = count({"hw_counters/sent_pkts", "counters/port_xmit_packets"});
  counters.packets_received = count({"hw_counters/rcvd_pkts", "counters/port_rcv_packets"});
  counters.packets_dropped = count({"counters/port_rcv_errors"});
  counters.retransmissions =
      count({"hw_counters/completer_retry_err", "hw_counters/local_ack_timeout_err"});
  counters.naks_sent = count({"hw_counters/out_of_seq_request", "hw_counters/out_of_sequence"});
  counters.rnr_naks_sent = count({"hw_counters/send_rnr_err", "hw_counters/out_of_buffer"});
  return counters;
}

}  // namespace remora::fabric::verbs
