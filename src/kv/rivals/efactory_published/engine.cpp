#include "kv/rivals/efactory_published/engine.h"

#include "kv/common/plain_engine.h"
#include "kv/rivals/efactory_published/client.h"
#include "kv/rivals/efactory_published/faults.h"
#include "kv/rivals/efactory_published/server.h"
#include "kv/store_descriptor.h"

namespace remora::kv::efactory_published {
namespace {

constexpr auto sources = sources_of_store("src/kv/rivals/efactory_published/");

constexpr auto counter_texts = std::to_array<CounterText>({
    {"keys", "remora_keys", "Keys in the store"},
    {"log_bytes_in_use", "remora_log_in_use_bytes", "Space of the log in use"},
    {"log_bytes_total", "remora_log_size_bytes", "Space of the log"},
    {"index_generation", "remora_index_generation", "Times that the index moved, and one"},
    {"awaited_versions", "remora_awaited_versions", "Versions that are not persistent yet"},
    {"verified_versions", "remora_verified_versions", "Versions found complete and made persistent",
     true},
    {"invalidated_versions", "remora_invalidated_versions", "Versions whose value never came",
     true},
    {"cleanings", "remora_cleanings", "Cleanings of all of the log that came to their end", true},
    {"moved_versions", "remora_moved_versions", "Versions that cleaning has moved", true},
});

constexpr std::string_view unheld =
    "a get may find the version before, as long as an RDMA device has the value and memory has "
    "not, or while the log is cleaned; a value that is read while it is made durable may be torn; "
    "and a power cut while a put is granted may take the versions of its key along, even if they "
    "were persistent";
constexpr std::string_view unsummed_bytes =
    "the entries of its table and the links between versions: damage there leads to an older "
    "version, or to none; padding and free space. A value that fails its checksum when the store "
    "is opened counts as one that never came; one that fails later is served";

constexpr Descriptor as_published = {.name = "efactory-published",
                                     .about = "eFactory as its paper has it, nothing mended",
                                     .caveat = unheld,
                                     .unsummed = unsummed_bytes,
                                     .paper = "eFactory (Du et al., ICPP 2021)",
                                     .section = "eFactory, 4",
                                     .is_rival = true,
                                     .faults = faults::all,
                                     .sources = sources,
                                     .counters = counter_texts};

constexpr Descriptor without_hybrid_reads = {.name = "efactory-published-no-hr",
                                             .about = "the same with every get by RPC and READ",
                                             .caveat = unheld,
                                             .unsummed = unsummed_bytes,
                                             .paper = "eFactory (Du et al., ICPP 2021)",
                                             .section = "eFactory, 6.1",
                                             .is_rival = true,
                                             .faults = faults::all,
                                             .sources = sources,
                                             .counters = counter_texts};

}  // namespace

const Engine& engine() {
  static const PlainEngine<PublishedServer, PublishedClient> engine(as_published,
                                                                    promise_asynchronous);
  return engine;
}

const Engine& engine_without_hybrid_reads() {
  static const PlainEngine<PublishedServer, AskingClient> engine(without_hybrid_reads,
                                                                 promise_asynchronous);
  return engine;
}

}  // namespace remora::kv::efactory_published
