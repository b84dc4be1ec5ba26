// The table of all systems: whatever has a name and is held to a promise by power cuts. `remora
// crash`, `matrix` and `systems` read it, and the names that a shell completes come from it. Parts
// first, then the store engines in their own order (kv::engines()).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lab/crash/subject.h"

namespace remora::lab {

const std::vector<const CrashSubject*>& subjects();

// "pool, log, expiry, efactory, ..."
std::string subject_names();

// By name, or a failure that lists the names.
Result<const CrashSubject*> find_subject(std::string_view name);

// Whether any of them answers for this persist call, or nobody need.
bool is_answered_for(const SiteKey& site);

}  // namespace remora::lab
