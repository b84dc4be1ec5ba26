#include "lab/check/promise.h"

#include <fmt/format.h>

#include "base/check.h"
#include "lab/check/buffered_durable.h"
#include "lab/check/durably_linearizable.h"
#include "lab/check/monotonic_reads.h"
#include "lab/check/never_lost.h"
#include "lab/check/never_torn.h"
#include "lab/check/scans.h"
#include "lab/check/together.h"

namespace remora {
namespace {

std::string_view meaning_of(Acknowledged acknowledged) {
  switch (acknowledged) {
    case Acknowledged::taken:
      return "taken, and may be lost";
    case Acknowledged::visible:
      return "visible, and may be lost at a cut";
    case Acknowledged::asynchronous:
      return "visible, and becomes persistent later";
    case Acknowledged::persistent:
      return "visible and persistent";
  }
  return "?";
}

std::string_view meaning_of(Returned returned) {
  switch (returned) {
    case Returned::any_version:
      return "some whole version";
    case Returned::monotonic_per_client:
      return "no older version than that client saw before";
    case Returned::monotonic:
      return "no older version than any client saw before";
    case Returned::latest:
      return "the latest version";
  }
  return "?";
}

Verdict check_as_recorded(const History& history, const Promise& promise,
                          std::uint64_t budget_states) {
  Verdict verdict = never_torn(history);
  verdict.add(never_lost(history));
  if (promise.returned == Returned::latest) {
    verdict.add(promise.acknowledged == Acknowledged::persistent
                    ? durably_linearizable(history, budget_states)
                    : buffered_durable(history, budget_states));
    verdict.add(scans(history));
    verdict.add(together(history, promise.returned_survives));
  }
  if (promise.returned != Returned::any_version) {
    verdict.add(monotonic_reads(
        history, {.across_clients = promise.returned != Returned::monotonic_per_client,
                  .across_cuts = promise.returned_survives}));
  }
  return verdict;
}

}  // namespace

std::string to_text(const Promise& promise) {
  return fmt::format("an acknowledged write is {}; a get returns {}{}",
                     meaning_of(promise.acknowledged), meaning_of(promise.returned),
                     promise.returned_survives ? ", which then survives every cut" : "");
}

Verdict check(const History& history, const Promise& promise, std::uint64_t budget_states) {
  REMORA_CHECK(!promise.returned_survives || promise.returned != Returned::any_version,
               "a promise that compares no reads cannot say that they survive");
  return promise.acknowledged == Acknowledged::persistent
             ? check_as_recorded(history.with_every_acknowledgement_persistent(), promise,
                                 budget_states)
             : check_as_recorded(history, promise, budget_states);
}

}  // namespace remora
