#include "lab/check/random_history.h"

#include <algorithm>

#include "base/check.h"
#include "base/random.h"

namespace remora {
namespace {

using Kind = Step::Kind;

// The clients and the register that they share.
class World {
 public:
  World(const WorldSetting& setting, std::uint64_t seed)
      : setting_(setting), random_(seed), clients_(setting.clients) {}

  std::vector<Step> run() {
    std::uint32_t cuts = setting_.cuts;
    while (started_ < setting_.operations || anyone_busy()) {
      if (cuts > 0 && random_.chance(cuts, 3ull * setting_.operations)) {
        --cuts;
        cut(random_.chance(1, 2) ? CutScope::whole_world : CutScope::server_only);
        continue;
      }
      advance(static_cast<ClientId>(random_.below(clients_.size())));
    }
    if (cuts > 0) {
      cut(CutScope::whole_world);
      observe();
    }
    return std::move(steps_);
  }

 private:
  struct Client {
    bool busy = false;
    bool took_effect = false;
    Kind kind = Kind::get;
    std::size_t operation = 0;
    std::uint64_t id = 0;
  };
  // A write that took effect since the last cut.
  struct Written {
    std::uint64_t id;
    std::size_t operation;
    bool fixed;  // no cut may take it
  };

  bool percent(std::uint32_t chance) { return random_.chance(chance, 100); }
  bool anyone_busy() const {
    return std::any_of(clients_.begin(), clients_.end(), [](const Client& c) { return c.busy; });
  }
  std::uint64_t value() const { return written_.empty() ? recovered_ : written_.back().id; }

  void advance(ClientId id) {
    Client& client = clients_[id];
    if (!client.busy) {
      if (started_ < setting_.operations) {
        start(id);
      }
    } else if (percent(setting_.give_up_percent)) {
      client.busy = false;
      if (percent(50)) {
        steps_.push_back({.kind = Kind::give_up, .client = id, .operation = client.operation});
      }
    } else if (!client.took_effect) {
      take_effect(client);
    } else {
      respond(id);
    }
  }

  void start(ClientId id) {
    Client& client = clients_[id];
    client = {.busy = true, .operation = started_++};
    if (percent(50)) {
      client.kind = Kind::get;
    } else if (percent(setting_.del_percent)) {
      client.kind = Kind::del;
    } else {
      client.kind = Kind::put;
      client.id = client.operation + 1;
    }
    steps_.push_back(
        {.kind = client.kind, .client = id, .operation = client.operation, .id = client.id});
  }

  void take_effect(Client& client) {
    client.took_effect = true;
    if (client.kind != Kind::get) {
      written_.push_back({client.id, client.operation, false});
      return;
    }
    client.id = value();
    if (setting_.returned_survives && !written_.empty()) {
      written_.back().fixed = true;
    }
  }

  void respond(ClientId id) {
    Client& client = clients_[id];
    client.busy = false;
    if (client.kind == Kind::get) {
      steps_.push_back(
          {.kind = Kind::answer, .client = id, .operation = client.operation, .id = client.id});
      return;
    }
    const bool visible = percent(setting_.visible_percent);
    steps_.push_back({.kind = Kind::acknowledge,
                      .client = id,
                      .operation = client.operation,
                      .outcome = visible ? Outcome::visible : Outcome::persistent});
    const bool flush = visible && percent(20);
    if (flush) {
      steps_.push_back({.kind = Kind::flushed, .client = id, .operation = client.operation});
    }
    if (!visible || flush) {
      fix(client.operation);
    }
  }

  void fix(std::size_t operation) {
    for (Written& written : written_) {
      written.fixed = written.fixed || written.operation == operation;
    }
  }

  void cut(CutScope scope) {
    if (setting_.rule == CutRule::may_roll_back) {
      roll_back();
    }
    recovered_ = value();
    written_.clear();
    if (scope == CutScope::whole_world) {
      clients_.assign(clients_.size(), Client());
    }
    steps_.push_back({.kind = Kind::cut, .scope = scope});
  }

  // Loses some of the latest writes. A client that still waits for one of them repeats it.
  void roll_back() {
    while (!written_.empty() && !written_.back().fixed && percent(60)) {
      for (Client& client : clients_) {
        if (client.busy && client.kind != Kind::get &&
            client.operation == written_.back().operation) {
          client.took_effect = false;
        }
      }
      written_.pop_back();
    }
  }

  // One last get tells what recovery left.
  void observe() {
    steps_.push_back({.kind = Kind::get, .operation = started_});
    steps_.push_back({.kind = Kind::answer, .operation = started_, .id = value()});
  }

  const WorldSetting& setting_;
  Random random_;
  std::vector<Client> clients_;
  std::vector<Written> written_;
  std::uint64_t recovered_ = 0;
  std::size_t started_ = 0;
  std::vector<Step> steps_;
};

}  // namespace

std::vector<Step> simulate(const WorldSetting& setting, std::uint64_t seed) {
  return World(setting, seed).run();
}

std::vector<Step> scribble(const WorldSetting& setting, std::uint64_t seed) {
  std::vector<Step> steps = simulate(setting, seed);
  Random random(mix(seed));
  std::vector<std::uint64_t> ids = {0};
  for (Step& step : steps) {
    if (step.kind == Kind::put) {
      ids.push_back(step.id);
    } else if (step.kind == Kind::answer) {
      step.id = ids[random.below(ids.size())];
    }
  }
  return steps;
}

void mutate_answer(std::vector<Step>& steps, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::size_t> answers;
  std::vector<std::uint64_t> ids = {0};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].kind == Kind::answer) {
      answers.push_back(i);
    } else if (steps[i].kind == Kind::put) {
      ids.push_back(steps[i].id);
    }
  }
  if (!answers.empty()) {
    steps[answers[random.below(answers.size())]].id = ids[random.below(ids.size())];
  }
}

History record(const std::vector<Step>& steps) {
  constexpr std::size_t size_bytes = 32;
  History history;
  std::uint64_t now_ns = 0;
  for (const Step& step : steps) {
    const std::uint64_t at = now_ns++ / 2;  // some events share a time
    switch (step.kind) {
      case Kind::put:
        history.invoke_put(step.client, "k", describe_value("k", step.id, size_bytes), at);
        break;
      case Kind::del:
        history.invoke_del(step.client, "k", at);
        break;
      case Kind::get:
        history.invoke_get(step.client, "k", at);
        break;
      case Kind::acknowledge:
        history.respond_write(step.operation, step.outcome, at);
        break;
      case Kind::give_up:
        history.respond_failed(step.operation, Outcome::unknown, at);
        break;
      case Kind::flushed:
        history.persisted(step.operation, at);
        break;
      case Kind::answer:
        if (step.id == 0) {
          history.respond_not_found(step.operation, at);
        } else {
          history.respond_value(step.operation, identify(value_for("k", step.id, size_bytes)), at);
        }
        break;
      case Kind::cut:
        history.cut(step.scope, at);
        break;
    }
  }
  return history;
}

}  // namespace remora
