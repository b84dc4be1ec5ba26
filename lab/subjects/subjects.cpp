#include "lab/subjects/subjects.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>

#include "kv/store.h"
#include "lab/calls/calls_subject.h"
#include "lab/crash/pool_subject.h"
#include "lab/subjects/files/file_subject.h"
#include "lab/subjects/log/log_subject.h"
#include "lab/subjects/stores/expiry_subject.h"
#include "lab/subjects/stores/store_subject.h"

namespace remora::lab {

const std::vector<const CrashSubject*>& subjects() {
  static const PoolSubject pool;
  static const LogSubject log;
  static const FileSubject files;
  static const ExpirySubject expiry;
  static const std::deque<StoreSubject> stores = [] {
    std::deque<StoreSubject> all;
    for (const kv::Engine* engine : kv::engines()) {
      all.emplace_back(*engine);
    }
    return all;
  }();
  static const std::vector<const CrashSubject*> list = [] {
    std::vector<const CrashSubject*> all = {
        &pool, &log, &files, &expiry, &wflush_rpc_subject(), &w_rflush_rpc_subject()};
    for (const StoreSubject& store : stores) {
      all.push_back(&store);
    }
    return all;
  }();
  return list;
}

std::string subject_names() {
  std::vector<std::string_view> names;
  for (const CrashSubject* subject : subjects()) {
    names.push_back(subject->name());
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

Result<const CrashSubject*> find_subject(std::string_view name) {
  const auto found = std::ranges::find(subjects(), name, &CrashSubject::name);
  if (found == subjects().end()) {
    return Status(Code::invalid_argument,
                  fmt::format("unknown engine '{}'; choose {}", name, subject_names()));
  }
  return *found;
}

bool is_answered_for(const SiteKey& site) {
  // What the simulated devices do for a FLUSH or a WRITE that was posted: its poster answers for
  // it.
  const bool is_of_a_device = site.file.find("lab/world/") != std::string::npos;
  return is_of_a_device || is_scaffolding(site.file) ||
         std::ranges::any_of(subjects(),
                             [&site](const CrashSubject* subject) { return subject->owns(site); });
}

}  // namespace remora::lab
