#include "lab/check/register_log.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "base/check.h"
#include "lab/check/reads.h"

namespace remora {

using Kind = RegisterEvent::Kind;

RegisterLog::RegisterLog(const History& history, const std::vector<OperationIndex>& operations,
                         CutRule rule)
    : history_(history), rule_(rule) {
  take_reads(operations);
  take_writes(operations);
  order_events();
  lay_out();
  if (!too_wide_) {
    summarize();
  }
}

RegisterValue RegisterLog::value_of(std::uint64_t id) {
  const auto known = std::find(ids_.begin(), ids_.end(), id);
  const auto value = static_cast<RegisterValue>(known - ids_.begin());
  if (known == ids_.end()) {
    ids_.push_back(id);
  }
  return value;
}

void RegisterLog::take_reads(const std::vector<OperationIndex>& operations) {
  for (const OperationIndex i : operations) {
    const Operation& get = history_[i];
    if (!tells_version(get)) {
      continue;
    }
    RegisterOperation read;
    read.source = i;
    read.required = true;
    read.value = get.outcome == Outcome::not_found ? absent : value_of(get.read.value.id);
    read.closed = get.closed;
    operations_.push_back(read);
  }
}

void RegisterLog::take_writes(const std::vector<OperationIndex>& operations) {
  const std::size_t reads = operations_.size();
  for (const OperationIndex i : operations) {
    const Operation& source = history_[i];
    if (!source.is_write() || !source.may_have_happened()) {
      continue;
    }
    RegisterOperation write;
    write.source = i;
    write.write = true;
    write.required = source.acknowledged();
    write.value = source.kind == OperationKind::del ? absent : value_of(source.written.id);
    write.closed = source.closed;
    write.never_read =
        std::none_of(operations_.begin(), operations_.begin() + static_cast<std::ptrdiff_t>(reads),
                     [&](const RegisterOperation& read) { return read.value == write.value; });
    // One that need not have happened and that nobody saw explains nothing.
    if (write.required || !write.never_read) {
      operations_.push_back(write);
    }
  }
}

bool RegisterLog::losable_before(const RegisterOperation& operation, Position cut) const {
  const Operation& source = history_[operation.source];
  const bool answered = source.acknowledged() && source.responded < cut;
  if (source.persisted != never && (source.persisted < cut || answered)) {
    return false;
  }
  return rule_ == CutRule::may_roll_back || answered;
}

bool RegisterLog::rolls(const Cut& cut) const {
  return std::any_of(operations_.begin(), operations_.end(), [&](const RegisterOperation& write) {
    return write.write && history_[write.source].invoked < cut.at && losable_before(write, cut.at);
  });
}

void RegisterLog::order_events() {
  for (std::uint32_t i = 0; i < operations_.size(); ++i) {
    const Operation& source = history_[operations_[i].source];
    events_.push_back({Kind::begin, i, 0, source.invoked, {}});
    if (operations_[i].closed != never) {
      const Kind kind = operations_[i].required     ? Kind::must_end
                        : source.responded != never ? Kind::may_end
                                                    : Kind::expire;
      events_.push_back({kind, i, 0, operations_[i].closed, {}});
    }
  }
  // What a cut left is there for good, so where one cut rolls, the others are floors to it.
  const bool roll = std::any_of(history_.cuts().begin(), history_.cuts().end(),
                                [this](const Cut& cut) { return rolls(cut); });
  for (const Cut& cut : history_.cuts()) {
    if (roll) {
      events_.push_back({Kind::roll, no_index, 0, cut.at, {}});
    } else if (cut.scope == CutScope::whole_world) {
      events_.push_back({Kind::cut, no_index, 0, cut.at, {}});
    }
  }
  // What dies in a cut expires after it.
  std::sort(events_.begin(), events_.end(), [](const RegisterEvent& a, const RegisterEvent& b) {
    return std::tuple(a.at, a.operation != no_index, a.operation) <
           std::tuple(b.at, b.operation != no_index, b.operation);
  });
}

// Gives every operation a bit for as long as it is open, and every event its open operations.
void RegisterLog::lay_out() {
  std::uint64_t used = 0;
  std::vector<std::uint32_t> open;
  std::uint32_t segment = 0;
  for (RegisterEvent& event : events_) {
    event.open = open;
    event.segment = segment;
    if (event.operation == no_index) {
      segment += event.kind == Kind::roll ? 1 : 0;
    } else if (event.kind == Kind::begin) {
      if (used == ~std::uint64_t{0}) {
        too_wide_ = true;
        return;
      }
      operations_[event.operation].slot = static_cast<std::uint32_t>(std::countr_one(used));
      used |= operations_[event.operation].bit();
      open.push_back(event.operation);
    } else {
      used &= ~operations_[event.operation].bit();
      open.erase(std::find(open.begin(), open.end(), event.operation));
    }
  }
}

void RegisterLog::summarize() {
  segments_.resize(events_.empty() ? 1 : events_.back().segment + 2);
  for (RegisterSegment& segment : segments_) {
    segment.last_read_begin.assign(ids_.size(), 0);
  }
  last_read_end_.assign(ids_.size(), 0);
  only_writer_.assign(ids_.size(), no_index);
  writers_.assign(ids_.size(), 0);
  for (std::uint32_t i = 0; i < operations_.size(); ++i) {
    if (operations_[i].write) {
      const RegisterValue value = operations_[i].value;
      only_writer_[value] = ++writers_[value] == 1 ? i : no_index;
    }
  }
  for (const RegisterEvent& event : events_) {
    RegisterSegment& segment = segments_[event.segment];
    if (event.kind == Kind::roll) {
      segment.end = event.at;
      segment.repeats = std::any_of(event.open.begin(), event.open.end(), [&](std::uint32_t i) {
        return operations_[i].write && operations_[i].closed > event.at;
      });
    } else if (event.kind == Kind::must_end && !operations_[event.operation].write) {
      const RegisterOperation& read = operations_[event.operation];
      Position& begin = segment.last_read_begin[read.value];
      begin = std::max(begin, history_[read.source].invoked);
      last_read_end_[read.value] = std::max(last_read_end_[read.value], event.at);
    }
  }
}

OperationIndex RegisterLog::source_of(RegisterValue value) const {
  REMORA_CHECK(only_writer_[value] != no_index, "no single write left this value");
  return operations_[only_writer_[value]].source;
}

}  // namespace remora
