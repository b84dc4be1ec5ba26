#include "server/durability_words.h"

namespace remora::server {
namespace {

// Whether puts become persistent by themselves, sooner or later.
bool persists_by_itself(const kv::Engine& engine) {
  return engine.promise().acknowledged >= Acknowledged::asynchronous;
}

std::string short_on_persistent_media(const kv::Engine& engine) {
  const Promise promise = engine.promise();
  if (promise.acknowledged == Acknowledged::persistent) {
    return "an acknowledged put survives a power cut";
  }
  if (promise.acknowledged == Acknowledged::asynchronous) {
    return "an acknowledged put is visible at once, and persistent a moment later; with "
           "--persistent it is acknowledged when it is, and then it survives a power cut";
  }
  return std::string(
             "an acknowledged put is visible at once, and never persistent by itself: a "
             "power cut may take it at any time") +
         (promise.returned_survives ? " before a get has returned it" : "") +
         "; with --persistent it is acknowledged when it is persistent";
}

PutWords at_length_on_persistent_media(const Promise& promise) {
  const std::string survives = "acknowledged: it survives kill -9, a crash and a power cut";
  switch (promise.acknowledged) {
    case Acknowledged::persistent:
      return {.put = survives};
    case Acknowledged::asynchronous:
      return {.put =
                  "acknowledged: every later get sees it. The store makes it persistent by "
                  "itself a moment later; until then a power cut may lose it, wholly, never "
                  "torn, and never after a native client's get has returned it (a Redis client "
                  "may read it before)",
              .persistent_put = survives};
    case Acknowledged::visible:
    case Acknowledged::taken:
      break;
  }
  return {.put = std::string("acknowledged: every later get sees it. The engine never makes it "
                             "persistent by itself: a power cut may lose it at any time") +
                 (promise.returned_survives ? ", but not after a get has returned it"
                                            : ", also after gets have returned it"),
          .persistent_put = survives};
}

}  // namespace

Survives survives_of(const Strategy& medium) {
  return medium.survives_power_cut ? Survives::power_cut : Survives::process_end;
}

Survives survives_by(const Facts& facts) {
  if (find_fact(facts, "survives_process_end") == std::string("no")) {
    return Survives::nothing;
  }
  return find_fact(facts, "survives_power_cut") == std::string("yes") ? Survives::power_cut
                                                                      : Survives::process_end;
}

std::string acknowledged_in_short(const kv::Engine& engine, bool asked, Survives survives) {
  if (!asked && engine.promise().acknowledged != Acknowledged::persistent) {
    return "visible";
  }
  switch (survives) {
    case Survives::power_cut:
      return "persistent";
    case Survives::process_end:
      return "visible; this store's medium is lost in a power cut";
    case Survives::nothing:
      break;
  }
  return "visible; this store's memory goes with its process";
}

std::string put_in_short(const kv::Engine& engine, Survives survives) {
  std::string text;
  switch (survives) {
    case Survives::nothing:
      text = "an acknowledged put is visible at once; nothing survives the end of this process";
      break;
    case Survives::process_end:
      text =
          "an acknowledged put is visible at once; it survives the end of this process, but no "
          "power cut";
      break;
    case Survives::power_cut:
      text = short_on_persistent_media(engine);
      break;
  }
  return engine.caveat().empty() ? text : text + "; but " + std::string(engine.caveat());
}

PutWords put_at_length(const kv::Engine& engine, Survives survives) {
  PutWords words;
  switch (survives) {
    case Survives::nothing:
      words.put =
          "acknowledged: every later get sees it. The pool is memory of the server: nothing of it "
          "survives the end of that process, with --persistent or without";
      break;
    case Survives::process_end:
      words.put =
          "acknowledged: every later get sees it. It survives kill -9, but no power cut, with "
          "--persistent or without";
      break;
    case Survives::power_cut:
      words = at_length_on_persistent_media(engine.promise());
      break;
  }
  words.caveat = engine.caveat();
  return words;
}

std::string redis_in_short(resp::Durability durability, Survives survives) {
  switch (survives) {
    case Survives::nothing:
      return "nothing survives the end of this process";
    case Survives::process_end:
      return "writes survive the end of this process, but no power cut";
    case Survives::power_cut:
      break;
  }
  return durability == resp::Durability::persistent
             ? "writes are answered, and reads of what other Redis clients wrote, when they are "
               "persistent; a read may show a native client's put before that"
             : "writes are persistent a moment after the answer (WAITAOF waits); a read may show "
               "them before";
}

std::string end_in_short(const kv::Engine& engine, Survives survives) {
  switch (survives) {
    case Survives::nothing:
      return "the pool was memory, and all that it held is gone";
    case Survives::process_end:
      return "all that was acknowledged is in the pool, which survives no power cut";
    case Survives::power_cut:
      break;
  }
  if (persists_by_itself(engine)) {
    return "all that was acknowledged is persistent";
  }
  return std::string("persistent is what was put with --persistent") +
         (engine.promise().returned_survives ? " or returned by a get" : "") +
         "; a power cut may still take the rest";
}

}  // namespace remora::server
