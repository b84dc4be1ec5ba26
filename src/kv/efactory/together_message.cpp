#include "kv/efactory/together_message.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "kv/common/wire.h"

namespace remora::kv::efactory {
namespace {

void append(std::vector<std::byte>& to, ConstBytes bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

// Takes what it gives off the begin of the bytes.
class Reader {
 public:
  explicit Reader(ConstBytes bytes) : rest_(bytes) {}

  template <typename T>
  std::optional<T> take_struct() {
    const std::optional<T> value = read_struct<T>(rest_);
    rest_ = value ? rest_.subspan(sizeof(T)) : rest_;
    return value;
  }
  std::optional<ConstBytes> take(std::uint64_t size_bytes) {
    if (size_bytes > rest_.size()) {
      return std::nullopt;
    }
    const ConstBytes taken = rest_.first(size_bytes);
    rest_ = rest_.subspan(size_bytes);
    return taken;
  }
  std::size_t left() const { return rest_.size(); }

 private:
  ConstBytes rest_;
};

}  // namespace

std::vector<std::byte> pack(const MultiWrite& what) {
  std::vector<std::byte> bytes;
  const TogetherHead head{static_cast<std::uint32_t>(what.conditions.size()),
                          static_cast<std::uint32_t>(what.writes.size())};
  append(bytes, object_bytes(head));
  for (const Condition& one : what.conditions) {
    append(bytes,
           object_bytes(ConditionHead{.version = one.version,
                                      .key_bytes = static_cast<std::uint32_t>(one.key.size())}));
    append(bytes, one.key);
  }
  for (const Write& one : what.writes) {
    const ConstBytes value = one.value.value_or(ConstBytes());
    append(bytes, object_bytes(WriteHead{.expires = one.expires,
                                         .key_bytes = static_cast<std::uint32_t>(one.key.size()),
                                         .value_bytes = static_cast<std::uint32_t>(value.size()),
                                         .has_value = one.value ? 1u : 0u}));
    append(bytes, one.key);
    append(bytes, value);
  }
  return bytes;
}

// Every entry takes room, so a count that is too large for the bytes is found before it is trusted.
std::optional<UnpackedWrite> unpack_write(ConstBytes bytes) {
  Reader reader(bytes);
  const std::optional<TogetherHead> head = reader.take_struct<TogetherHead>();
  if (!head || head->conditions > reader.left() / sizeof(ConditionHead) ||
      head->writes > reader.left() / sizeof(WriteHead)) {
    return std::nullopt;
  }
  UnpackedWrite unpacked;
  unpacked.conditions.reserve(head->conditions);
  unpacked.writes.reserve(head->writes);
  for (std::uint32_t i = 0; i < head->conditions; ++i) {
    const std::optional<ConditionHead> one = reader.take_struct<ConditionHead>();
    const std::optional<ConstBytes> key =
        one ? reader.take(one->key_bytes) : std::optional<ConstBytes>();
    if (!key) {
      return std::nullopt;
    }
    unpacked.conditions.push_back({*key, one->version});
  }
  for (std::uint32_t i = 0; i < head->writes; ++i) {
    const std::optional<WriteHead> one = reader.take_struct<WriteHead>();
    const std::optional<ConstBytes> key =
        one ? reader.take(one->key_bytes) : std::optional<ConstBytes>();
    const std::optional<ConstBytes> value =
        key ? reader.take(one->value_bytes) : std::optional<ConstBytes>();
    if (!value || one->has_value > 1 || (one->has_value == 0 && one->value_bytes != 0)) {
      return std::nullopt;
    }
    unpacked.writes.push_back(
        {*key, one->has_value != 0 ? std::optional(*value) : std::nullopt, one->expires});
  }
  return reader.left() == 0 ? std::optional(std::move(unpacked)) : std::nullopt;
}

bool UnpackedWrite::repeats_a_condition() const {
  std::vector<std::string_view> keys(conditions.size());
  std::ranges::transform(conditions, keys.begin(),
                         [](const Condition& one) { return as_text(one.key); });
  std::ranges::sort(keys);
  return std::ranges::adjacent_find(keys) != keys.end();
}

}  // namespace remora::kv::efactory
