#include "lab/subjects/stores/expiry_subject.h"

#include "kv/efactory/engine.h"
#include "kv/efactory/faults.h"
#include "lab/subjects/stores/expiry_run.h"

namespace remora::lab {
namespace {

// Of the store's persist calls its own campaign answers for all.
constexpr Descriptor expiry_descriptor = {.name = "expiry",
                                          .kind = SystemKind::part,
                                          .about = "keys of eFactory that expire or move",
                                          .faults = kv::efactory::faults::of_times};

class ExpiryWorker final : public CrashWorker {
 public:
  std::optional<CrashViolation> run(const CrashRun& run, CrashCount& count) override {
    const Platform platform = expiry_platform(run);
    ExpiryRun expiry(kv::efactory::engine(), platform, run.faults, run.seed, sites_);
    const std::optional<std::string> violation = expiry.go();
    count.cuts += expiry.cuts();
    count.images += expiry.cuts();
    expiry.images().for_each([&count](std::uint64_t hash) { count.distinct.insert(hash); });
    if (!violation) {
      return std::nullopt;
    }
    return CrashViolation{.seed = run.seed,
                          .platform = to_string(platform),
                          .rule = "keeps_times",
                          .explanation = *violation};
  }
  SiteTable& sites() override { return sites_; }

 private:
  SiteTable sites_;
};

}  // namespace

const Descriptor& ExpirySubject::descriptor() const {
  return expiry_descriptor;
}

std::unique_ptr<CrashWorker> ExpirySubject::worker() const {
  return std::make_unique<ExpiryWorker>();
}

Platform expiry_platform(const CrashRun& run) {
  const Granularity drawn = run.seed % 2 == 0 ? Granularity::page : Granularity::cache_line;
  Platform platform;
  platform.domain = run.settings.domain;
  platform.ddio = run.settings.ddio;
  platform.flush = run.settings.flush;
  platform.granularity = run.settings.granularity.value_or(drawn);
  return platform;
}

}  // namespace remora::lab
