#include "rpc/calls/methods.h"

#include <algorithm>

#include "base/check.h"
#include "base/hash.h"

namespace remora::rpc::calls {

void CallWork::begin(Effects& effects, ConstBytes arguments) {
  effects_ = &effects;
  arguments_ = arguments;
  changes_.clear();
  result_.clear();
}

CallWork::Change& CallWork::change(ConstBytes key) {
  const auto found = std::ranges::find_if(
      changes_, [key](const Change& change) { return std::ranges::equal(change.key, key); });
  if (found != changes_.end()) {
    return *found;
  }
  return changes_.emplace_back(Change{{key.begin(), key.end()}, std::nullopt});
}

std::optional<ConstBytes> CallWork::get(ConstBytes key) {
  const auto found = std::ranges::find_if(
      changes_, [key](const Change& change) { return std::ranges::equal(change.key, key); });
  if (found == changes_.end()) {
    return effects_->get(key);
  }
  return found->value ? std::optional<ConstBytes>(*found->value) : std::nullopt;
}

void CallWork::put(ConstBytes key, ConstBytes value) {
  change(key).value.emplace(value.begin(), value.end());
}

void CallWork::del(ConstBytes key) {
  change(key).value.reset();
}

void CallWork::set_result(ConstBytes result) {
  REMORA_CHECK(result.size() <= longest_result, "the result of a call is too long");
  result_.assign(result.begin(), result.end());
}

std::span<const Effect> CallWork::effects() {
  list_.clear();
  for (const Change& change : changes_) {
    list_.push_back(
        {change.key, change.value ? std::optional<ConstBytes>(*change.value) : std::nullopt});
  }
  return list_;
}

std::uint32_t method_number(std::string_view name) {
  return static_cast<std::uint32_t>(hash64(as_bytes(name)));
}

void Methods::add(Method method) {
  const std::uint32_t number = method_number(method.name);
  REMORA_CHECK(methods_.emplace(number, std::move(method)).second,
               "two methods with one number: rename one");
}

const Method* Methods::find(std::uint32_t number) const {
  const auto found = methods_.find(number);
  return found == methods_.end() ? nullptr : &found->second;
}

}  // namespace remora::rpc::calls
