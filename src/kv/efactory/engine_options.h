// What one eFactory does otherwise than another.
#pragma once

namespace remora::kv::efactory {

struct EngineOptions {
  bool hybrid_reads = true;  // without: efactory-no-hr
  // The paper's ways, which the laboratory prices against ours.
  bool reads_while_cleaning = true;  // without: a get asks the server as long as the log is cleaned
  bool verifies_newest = true;       // without: every version is verified, in the order of requests
};

}  // namespace remora::kv::efactory
