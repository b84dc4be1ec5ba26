// What eFactory's server counts, as metrics show it.
#pragma once

#include <array>

#include "base/descriptor.h"

namespace remora::kv::efactory {

inline constexpr auto counter_texts = std::to_array<CounterText>({
    {"keys", "remora_keys", "Keys in the store"},
    {"keys_with_expiry", "remora_keys_with_expiry", "Keys that have a time to live"},
    {"recovered_keys", "remora_recovered_keys", "Keys that were there when the store was opened"},
    {"verified_keys", "remora_verified_keys", "Recovered keys whose checksums were verified since"},
    {"damaged_keys", "remora_damaged_keys", "Keys whose values fail their checksums"},
    {"damaged_headers", "remora_damaged_headers", "Headers in the log that fail their checksums"},
    {"index_growths", "remora_index_growths", "Times that the index got larger", true},
    {"index_shrinks", "remora_index_shrinks", "Times that the index got smaller", true},
    {"index_bytes", "remora_index_bytes", "The index, in memory"},
    {"expired_keys", "remora_expired_keys", "Keys that have expired", true},
    {"put_requests", "remora_requests", "Requests that the server answered", true, 1, "op=\"put\""},
    {"get_requests", "remora_requests", "", true, 1, "op=\"get\""},
    {"del_requests", "remora_requests", "", true, 1, "op=\"del\""},
    {"durability_lag_ns", "remora_durability_lag_seconds",
     "Age of the oldest version that is not persistent yet", false, 1e-9},
    {"awaited_versions", "remora_awaited_versions", "Versions that are not persistent yet"},
    {"verified_versions", "remora_verified_versions", "Versions found complete and made persistent",
     true},
    {"verified_by_worker", "remora_versions_looked_at_by_worker",
     "Versions whose checksum the worker thread computed", true},
    {"superseded_versions", "remora_superseded_versions",
     "Versions that a newer one made superfluous before they were verified", true},
    {"invalidated_versions", "remora_invalidated_versions", "Versions whose value never came",
     true},
    {"live_bytes", "remora_live_bytes", "What the keys that are there take with their values"},
    {"usable_bytes", "remora_usable_bytes", "What they may take before the store is full"},
    {"log_bytes_in_use", "remora_log_in_use_bytes", "Space of the log in use"},
    {"log_bytes_total", "remora_log_size_bytes", "Space of the log"},
    {"cleanings", "remora_cleanings", "Cleanings of all of the log that came to their end", true},
    {"cleaned_parts", "remora_cleaned_parts",
     "Cleanings of a part of the log that came to their end", true},
    {"moved_versions", "remora_moved_versions", "Versions that cleaning has moved", true},
    {"scrub_passes", "remora_scrub_passes", "Complete passes of the scrubber", true},
    {"scrub_objects", "remora_scrubbed_objects", "Versions that the scrubber has verified", true},
    {"scrub_reached", "remora_scrub_reached_keys", "Keys that this pass has verified"},
    {"scrub_last_keys", "remora_scrub_last_keys", "Keys that the last pass has verified"},
    {"scrub_last_damaged", "remora_scrub_last_damaged_keys", "Of these, damaged"},
    {"scrub_last_end_ms", "remora_scrub_last_end_seconds", "When the last pass ended, since 1970",
     false, 1e-3},
    {"rounds", "remora_rounds", "Changes of layout that all clients followed", true},
});

}  // namespace remora::kv::efactory
