#include "lab/run/ways.h"

#include <array>
#include <memory>
#include <utility>

#include "kv/efactory/engine.h"
#include "kv/efactory/faults.h"
#include "kv/rivals/efactory_published/engine.h"
#include "kv/rivals/efactory_published/faults.h"

namespace remora::store_bench {
namespace {

// Values that travel within requests and answers, as they do on a wire where messages cost most.
constexpr std::uint32_t whole_value_bytes = 4096;

// What is done otherwise than the engine does it.
struct Change {
  const Fault* server = nullptr;  // a mistake that is this difference
  const Fault* client = nullptr;
  bool values_travel_whole = false;
};

class Way final : public kv::Engine {
 public:
  Way(std::string_view name, std::string_view about, const kv::Engine& engine,
      const Change& change = {})
      : engine_(engine), change_(change), descriptor_(engine.descriptor()) {
    descriptor_.name = name;
    descriptor_.about = about;
  }

  const Descriptor& descriptor() const override { return descriptor_; }
  Promise promise() const override { return engine_.promise(); }
  kv::Durability del_durability() const override { return engine_.del_durability(); }
  Result<std::unique_ptr<kv::StoreServer>> start_server(
      Host host, Pool& pool, const kv::ServerOptions& options) const override {
    return engine_.start_server(planted(host, change_.server), pool, options);
  }
  Result<std::unique_ptr<kv::PendingClient>> start_client(
      Host host, const kv::ClientOptions& options) const override {
    kv::ClientOptions changed = options;
    if (change_.values_travel_whole) {
      changed.whole_value_bytes = whole_value_bytes;
    }
    return engine_.start_client(planted(host, change_.client), changed);
  }

 private:
  static Host planted(const Host& host, const Fault* fault) {
    return fault == nullptr ? host : host.with_faults(Faults(*fault));
  }

  const kv::Engine& engine_;
  const Change change_;
  Descriptor descriptor_;
};

const kv::Engine& asking() {
  static const auto engine = kv::efactory::engine_with({.reads_while_cleaning = false});
  return *engine;
}

const kv::Engine& in_order() {
  static const auto engine = kv::efactory::engine_with({.verifies_newest = false});
  return *engine;
}

const std::array<Way, 8>& all_ways() {
  namespace published = kv::efactory_published;
  const kv::Engine& ours = kv::efactory::engine();
  static const std::array<Way, 8> all = {{
      {"ours", "eFactory as Remora has it", ours},
      {"published", "eFactory as its paper has it", published::engine()},
      {"no-flush",
       "a put ends with its WRITE, and no FLUSH follows",
       ours,
       {.client = &kv::efactory::faults::write_is_enough}},
      {"flag-in-object",
       "a get trusts the flag that comes with the object",
       ours,
       {.client = &kv::efactory::faults::flag_travels}},
      {"gets-ask", "a get asks the server while the log is cleaned", asking()},
      {"in-order", "every version is verified, in the order of requests", in_order()},
      {"in-message",
       "values of up to 4 KB travel within requests and answers",
       ours,
       {.values_travel_whole = true}},
      {"index-in-dram",
       "as published, and the hash entry is not flushed",
       published::engine(),
       {.server = &published::faults::entry_not_persisted}},
  }};
  return all;
}

}  // namespace

const std::vector<const kv::Engine*>& ways() {
  static const std::vector<const kv::Engine*> list = [] {
    std::vector<const kv::Engine*> pointers;
    for (const Way& way : all_ways()) {
      pointers.push_back(&way);
    }
    return pointers;
  }();
  return list;
}

Result<const kv::Engine*> find_way(std::string_view name) {
  for (const kv::Engine* way : ways()) {
    if (way->name() == name) {
      return way;
    }
  }
  return Status(Code::invalid_argument,
                "there is no way \"" + std::string(name) + "\"; lab/run/ways.cpp has them all");
}

}  // namespace remora::store_bench
