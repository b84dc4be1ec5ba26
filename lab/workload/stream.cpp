#include "lab/workload/stream.h"

#include <algorithm>

#include "base/check.h"
#include "lab/check/value.h"

namespace remora::workload {
namespace {

// Numbers for one purpose of one client.
Random random_of(const Plan& plan, std::uint32_t client, std::uint64_t purpose) {
  return Random(mix(plan.seed) + mix(client * std::uint64_t{4} + purpose));
}

// Weights as bounds for a 63-bit number: drawn is the first kind whose bound is above it.
std::array<std::uint64_t, kind_count> bounds_of(const Workload& workload) {
  double sum = 0;
  for (double weight : workload.weights) {
    sum += weight;
  }
  std::array<std::uint64_t, kind_count> bounds = {};
  double so_far = 0;
  for (std::size_t i = 0; i < kind_count; ++i) {
    so_far += workload.weights[i];
    bounds[i] = static_cast<std::uint64_t>(so_far / sum * 0x1p63);
  }
  return bounds;
}

}  // namespace

void fill(std::string_view key_text, std::uint64_t id, Bytes into) {
  if (into.size() >= smallest_value_bytes) {
    fill_value(key_text, id, into);
    return;
  }
  std::array<std::byte, smallest_value_bytes> whole;
  fill_value(key_text, id, whole);
  std::copy_n(whole.begin(), into.size(), into.begin());
}

Loader::Loader(const Plan& plan, std::uint32_t client) : plan_(&plan), next_key_(client) {
  REMORA_CHECK(client < plan.clients, "no such client");
}

bool Loader::next(Operation& operation) {
  if (next_key_ >= plan_->records) {
    return false;
  }
  operation = {.kind = Kind::insert,
               .value_bytes = plan_->values.of_key(next_key_),
               .key = next_key_,
               .id = loaded_id};
  next_key_ += plan_->clients;
  return true;
}

Stream::Stream(const Plan& plan, Inserts& inserts, std::uint32_t client)
    : plan_(&plan),
      inserts_(&inserts),
      client_(client),
      below_(bounds_of(plan.workload)),
      kinds_(random_of(plan, client, 0)),
      keys_(random_of(plan, client, 1)),
      sizes_(random_of(plan, client, 2)),
      choice_(plan.workload.distribution, inserts),
      next_id_(std::uint64_t{2} * plan.clients + client),
      warm_up_(share_of(plan.warm_up, client, plan.clients)),
      planned_(warm_up_ + share_of(plan.operations, client, plan.clients)) {
  REMORA_CHECK(client < plan.clients, "no such client");
  REMORA_CHECK(inserts.records() == plan.records && inserts.clients() == plan.clients,
               "the inserts are those of another plan");
}

Kind Stream::draw_kind() {
  const std::uint64_t drawn = kinds_.next() >> 1;
  std::size_t kind = 0;
  while (drawn >= below_[kind]) {
    ++kind;
  }
  return static_cast<Kind>(kind);
}

bool Stream::next(Operation& operation) {
  const Kind kind = insert_waits_ ? Kind::insert : draw_kind();
  insert_waits_ = kind == Kind::insert && window_.full();
  if (insert_waits_) {
    return false;
  }
  operation.kind = kind;
  operation.key =
      kind == Kind::insert ? inserts_->number(client_, window_.take()) : choice_.draw(keys_);
  operation.scan_length = kind == Kind::scan
                              ? static_cast<std::uint32_t>(sizes_.between(
                                    plan_->workload.scan_low, plan_->workload.scan_high))
                              : 0;
  operation.value_bytes = 0;
  operation.id = 0;
  if (writes_value(kind)) {
    operation.value_bytes = plan_->values.draw(sizes_);
    operation.id = next_id_;
    next_id_ += plan_->clients;
  }
  ++drawn_;
  return true;
}

void Stream::inserted(const Operation& operation) {
  window_.acknowledge(inserts_->index_of(operation.key));
  if (window_.count() != inserts_->inserted_by(client_)) {
    inserts_->publish(client_, window_.count());
  }
}

void Stream::failed(const Operation& operation) {
  window_.give_back(inserts_->index_of(operation.key));
}

}  // namespace remora::workload
