// Parts of values, and values that are numbers.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "front/resp/families.h"

namespace remora::resp {

using kv::LocalStore;

namespace {

// The empty string where there is no key; its time stays as it is when it is put again.
std::string_view text_of(const std::optional<LocalStore::Found>& found) {
  return found ? as_text(found->value) : std::string_view();
}

LocalStore::Expiry time_of(const std::optional<LocalStore::Found>& found) {
  return found ? found->expires : 0;
}

bool is_too_long(std::uint64_t size) {
  return size > kv::limits::value_bytes;
}

Done too_long(Call& call) {
  return fail(call, "ERR string exceeds maximum allowed size (proto-max-bulk-len)");
}

Done add(Call& call, std::int64_t increment) {
  const std::optional<LocalStore::Found> found = look_up(call, call.key());
  if (const std::optional<Done> refused = refuse_damaged(call, found)) [[unlikely]] {
    return *refused;
  }
  std::int64_t value = 0;
  if (found) {
    const std::optional<std::int64_t> old = integer_of(call, text_of(found));
    if (!old) {
      return Done::replied;
    }
    value = *old;
  }
  if (__builtin_add_overflow(value, increment, &value)) {
    return fail(call, "ERR increment or decrement would overflow");
  }
  std::array<char, 24> digits;
  const char* const end = write_integer(digits.data(), value);
  const std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
  if (const std::optional<Done> failed = put(call, call.key(), text, time_of(found))) {
    return *failed;
  }
  call.out.integer(value);
  return Done::replied;
}

}  // namespace

Done getrange(Call& call) {
  const std::optional<std::int64_t> first = integer_of(call, call.args[2]);
  const std::optional<std::int64_t> last = first ? integer_of(call, call.args[3]) : std::nullopt;
  if (!last) {
    return Done::replied;
  }
  const std::optional<LocalStore::Found> found = look_up(call, call.key());
  if (const std::optional<Done> refused = refuse_damaged(call, found)) [[unlikely]] {
    return *refused;
  }
  const std::string_view text = text_of(found);
  const auto size = static_cast<std::int64_t>(text.size());
  if (*first < 0 && *last < 0 && *first > *last) {
    call.out.bulk("");
    return Done::replied;
  }
  const std::int64_t from = std::max<std::int64_t>(*first < 0 ? size + *first : *first, 0);
  const std::int64_t to =
      std::min(std::max<std::int64_t>(*last < 0 ? size + *last : *last, 0), size - 1);
  call.out.bulk(from > to || size == 0 ? std::string_view()
                                       : text.substr(static_cast<std::size_t>(from),
                                                     static_cast<std::size_t>(to - from + 1)));
  return Done::replied;
}

Done setrange(Call& call) {
  const std::optional<std::int64_t> offset = integer_of(call, call.args[2]);
  if (!offset) {
    return Done::replied;
  }
  if (*offset < 0) {
    return fail(call, "ERR offset is out of range");
  }
  const std::optional<LocalStore::Found> found = look_up(call, call.key());
  if (const std::optional<Done> refused = refuse_damaged(call, found)) [[unlikely]] {
    return *refused;
  }
  const std::string_view old = text_of(found);
  const std::string_view part = call.args[3];
  if (part.empty()) {
    call.out.integer(static_cast<std::int64_t>(old.size()));
    return Done::replied;
  }
  if (is_too_long(static_cast<std::uint64_t>(*offset)) ||
      is_too_long(static_cast<std::uint64_t>(*offset) + part.size())) {
    return too_long(call);
  }
  const auto at = static_cast<std::size_t>(*offset);
  const std::vector<std::byte> zeros(at > old.size() ? at - old.size() : 0);
  const std::string_view rest =
      at + part.size() < old.size() ? old.substr(at + part.size()) : std::string_view();
  const std::array<ConstBytes, 4> pieces = {bytes_of(old.substr(0, std::min(at, old.size()))),
                                            zeros, bytes_of(part), bytes_of(rest)};
  const std::size_t size = std::max(old.size(), at + part.size());
  if (const std::optional<Done> failed = put(call, call.key(), pieces, time_of(found))) {
    return *failed;
  }
  call.out.integer(static_cast<std::int64_t>(size));
  return Done::replied;
}

Done append(Call& call) {
  const std::optional<LocalStore::Found> found = look_up(call, call.key());
  if (const std::optional<Done> refused = refuse_damaged(call, found)) [[unlikely]] {
    return *refused;
  }
  const std::string_view old = text_of(found);
  const std::size_t size = old.size() + call.args[2].size();
  if (is_too_long(size)) {
    return too_long(call);
  }
  const std::array<ConstBytes, 2> pieces = {bytes_of(old), bytes_of(call.args[2])};
  if (const std::optional<Done> failed = put(call, call.key(), pieces, time_of(found))) {
    return *failed;
  }
  call.out.integer(static_cast<std::int64_t>(size));
  return Done::replied;
}

Done strlen(Call& call) {
  const std::optional<LocalStore::Found> found = look_up(call, call.key());
  if (const std::optional<Done> refused = refuse_damaged(call, found)) [[unlikely]] {
    return *refused;
  }
  call.out.integer(static_cast<std::int64_t>(text_of(found).size()));
  return Done::replied;
}

Done incr(Call& call) {
  return add(call, 1);
}

Done decr(Call& call) {
  return add(call, -1);
}

Done incrby(Call& call) {
  const std::optional<std::int64_t> increment = integer_of(call, call.args[2]);
  return increment ? add(call, *increment) : Done::replied;
}

Done decrby(Call& call) {
  const std::optional<std::int64_t> decrement = integer_of(call, call.args[2]);
  if (!decrement) {
    return Done::replied;
  }
  if (*decrement == std::numeric_limits<std::int64_t>::min()) {
    return fail(call, "ERR decrement would overflow");
  }
  return add(call, -*decrement);
}

Done incrbyfloat(Call& call) {
  const std::optional<LocalStore::Found> found = look_up(call, call.key());
  if (const std::optional<Done> refused = refuse_damaged(call, found)) [[unlikely]] {
    return *refused;
  }
  long double value = 0;
  long double increment = 0;
  if ((found && !parse_float(text_of(found), value)) || !parse_float(call.args[2], increment)) {
    return fail(call, "ERR value is not a valid float");
  }
  value += increment;
  if (std::isnan(value) || std::isinf(value)) {
    return fail(call, "ERR increment would produce NaN or Infinity");
  }
  const std::string text = float_text(value);
  if (const std::optional<Done> failed = put(call, call.key(), text, time_of(found))) {
    return *failed;
  }
  call.out.bulk(text);
  return Done::replied;
}

}  // namespace remora::resp
