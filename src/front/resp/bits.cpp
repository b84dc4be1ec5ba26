// Values as bits: SETBIT, GETBIT, BITCOUNT, BITPOS. The first bit is the highest of the first byte.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "front/resp/families.h"

namespace remora::resp {

using kv::LocalStore;

namespace {

// What Redis takes as the place of a bit: of a value of 512 MB. A longer one than ours is read as
// zeros, and is not written.
constexpr std::int64_t most_bits = std::int64_t{1} << 32;

std::optional<std::size_t> offset_of(Call& call, std::string_view text, std::int64_t most) {
  std::int64_t offset = 0;
  if (!parse_integer(text, offset) || offset < 0 || offset >= most) {
    fail(call, "ERR bit offset is not an integer or out of range");
    return std::nullopt;
  }
  return static_cast<std::size_t>(offset);
}

bool bit_at(std::string_view bytes, std::size_t at) {
  return at / 8 < bytes.size() &&
         ((static_cast<unsigned char>(bytes[at / 8]) >> (7 - at % 8)) & 1) != 0;
}

// Bits from the first to the last, both of them too; none where the first is behind the last.
struct Range {
  std::int64_t first = 0;
  std::int64_t last = -1;
};

// How many bytes the bits are in from the first of a range to this one.
std::uint64_t bytes_to(std::int64_t last, Range range) {
  return last < range.first ? 0 : static_cast<std::uint64_t>(last / 8 - range.first / 8 + 1);
}

enum class Unit : std::uint8_t { byte, bit };

std::optional<Unit> unit_of(std::string_view word) {
  return is_word(word, "bit")    ? std::optional(Unit::bit)
         : is_word(word, "byte") ? std::optional(Unit::byte)
                                 : std::nullopt;
}

// Of numbers that count from the end where they are negative.
Range range_of(std::int64_t first, std::int64_t last, Unit unit, std::size_t bytes) {
  const std::int64_t scale = unit == Unit::bit ? 1 : 8;
  const auto size = static_cast<std::int64_t>(bytes) * 8 / scale;
  const auto from_end = [size](std::int64_t at) {
    return std::max<std::int64_t>(at < 0 ? size + at : at, 0);
  };
  const std::int64_t begin = std::min(from_end(first), size);
  const std::int64_t end = std::min(from_end(last), size - 1);
  return {begin * scale, end * scale + scale - 1};
}

// A hit or a miss, as GET counts them.
void count(Call& call, bool is_there) {
  Counters& counters = call.executor.counters();
  ++(is_there ? counters.hits : counters.misses);
}

std::int64_t ones_in(std::string_view bytes, Range range) {
  std::int64_t ones = 0;
  std::int64_t at = range.first;
  while (at <= range.last) {
    if (at % 64 == 0 && at + 63 <= range.last) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at / 8, sizeof word);
      ones += std::popcount(word);
      at += 64;
    } else {
      ones += bit_at(bytes, static_cast<std::size_t>(at)) ? 1 : 0;
      ++at;
    }
  }
  return ones;
}

// The first such bit, or -1.
std::int64_t find_bit(std::string_view bytes, Range range, bool wanted) {
  const unsigned char nothing = wanted ? 0x00 : 0xff;
  std::int64_t at = range.first;
  while (at <= range.last) {
    if (at % 8 == 0 && at + 7 <= range.last &&
        static_cast<unsigned char>(bytes[static_cast<std::size_t>(at / 8)]) == nothing) {
      at += 8;
    } else if (bit_at(bytes, static_cast<std::size_t>(at)) == wanted) {
      return at;
    } else {
      ++at;
    }
  }
  return -1;
}

}  // namespace

Done getbit(Call& call) {
  const std::optional<std::size_t> offset = offset_of(call, call.args[2], most_bits);
  if (!offset) {
    return Done::replied;
  }
  const std::optional<LocalStore::Found> found = look_up(call, call.key());
  if (const std::optional<Done> refused = refuse_damaged(call, found)) [[unlikely]] {
    return *refused;
  }
  count(call, found.has_value());
  call.out.integer(found && bit_at(as_text(found->value), *offset) ? 1 : 0);
  return Done::replied;
}

Done setbit(Call& call) {
  constexpr auto most = static_cast<std::int64_t>(kv::limits::value_bytes) * 8;
  const std::optional<std::size_t> offset = offset_of(call, call.args[2], most);
  if (!offset) {
    return Done::replied;
  }
  if (call.args[3] != "0" && call.args[3] != "1") {
    return fail(call, "ERR bit is not an integer or out of range");
  }
  const bool bit = call.args[3] == "1";
  const std::optional<LocalStore::Found> found = look_up(call, call.key());
  if (const std::optional<Done> refused = refuse_damaged(call, found)) [[unlikely]] {
    return *refused;
  }
  const std::string_view old = found ? as_text(found->value) : std::string_view();
  const bool was = bit_at(old, *offset);
  const std::size_t at = *offset / 8;
  if (at >= old.size() || was != bit) {
    const auto mask = static_cast<unsigned char>(0x80 >> *offset % 8);
    const auto before = at < old.size() ? static_cast<unsigned char>(old[at]) : 0;
    const char byte = static_cast<char>(bit ? before | mask : before & ~mask);
    const std::string zeros(at > old.size() ? at - old.size() : 0, '\0');
    const std::array<ConstBytes, 4> pieces = {
        bytes_of(old.substr(0, std::min(at, old.size()))), bytes_of(zeros), bytes_of({&byte, 1}),
        bytes_of(at + 1 < old.size() ? old.substr(at + 1) : std::string_view())};
    if (const std::optional<Done> failed =
            put(call, call.key(), pieces, found ? found->expires : 0)) {
      return *failed;
    }
  }
  call.out.integer(was ? 1 : 0);
  return Done::replied;
}

Done bitcount(Call& call) {
  const Args args = call.args;
  const std::optional<LocalStore::Found> found = look_up(call, call.key());
  if (const std::optional<Done> refused = refuse_damaged(call, found)) [[unlikely]] {
    return *refused;
  }
  count(call, found.has_value());
  if (!found) {
    call.out.integer(0);
    return Done::replied;
  }
  const std::string_view bytes = as_text(found->value);
  Range range{0, static_cast<std::int64_t>(bytes.size()) * 8 - 1};
  if (args.size() == 4 || args.size() == 5) {
    const std::optional<std::int64_t> first = integer_of(call, args[2]);
    const std::optional<std::int64_t> last = first ? integer_of(call, args[3]) : std::nullopt;
    if (!last) {
      return Done::replied;
    }
    if (*first < 0 && *last < 0 && *first > *last) {
      call.out.integer(0);
      return Done::replied;
    }
    const std::optional<Unit> unit = args.size() == 5 ? unit_of(args[4]) : Unit::byte;
    if (!unit) {
      return syntax_error(call);
    }
    range = range_of(*first, *last, *unit, bytes.size());
  } else if (args.size() != 2) {
    return syntax_error(call);
  }
  if (const std::optional<Done> refused = refuse_search(call, bytes_to(range.last, range))) {
    return *refused;
  }
  call.out.integer(ones_in(bytes, range));
  return Done::replied;
}

Done bitpos(Call& call) {
  const Args args = call.args;
  const std::optional<std::int64_t> bit = integer_of(call, args[2]);
  if (!bit) {
    return Done::replied;
  }
  if (*bit != 0 && *bit != 1) {
    return fail(call, "ERR The bit argument must be 1 or 0.");
  }
  const std::optional<LocalStore::Found> found = look_up(call, call.key());
  if (const std::optional<Done> refused = refuse_damaged(call, found)) [[unlikely]] {
    return *refused;
  }
  count(call, found.has_value());
  if (!found) {  // zeros without an end
    call.out.integer(*bit == 1 ? -1 : 0);
    return Done::replied;
  }
  const std::string_view bytes = as_text(found->value);
  const auto size = static_cast<std::int64_t>(bytes.size());
  Range range{0, size * 8 - 1};
  if (args.size() > 6) {
    return syntax_error(call);
  }
  if (args.size() > 3) {
    const std::optional<std::int64_t> first = integer_of(call, args[3]);
    if (!first) {
      return Done::replied;
    }
    const std::optional<Unit> unit = args.size() == 6 ? unit_of(args[5]) : Unit::byte;
    if (!unit) {
      return syntax_error(call);
    }
    const std::optional<std::int64_t> last =
        args.size() > 4 ? integer_of(call, args[4]) : std::optional(size - 1);
    if (!last) {
      return Done::replied;
    }
    range = range_of(*first, *last, *unit, bytes.size());
  }
  if (const std::optional<Done> refused = refuse_search(call, 0)) {
    return *refused;
  }
  std::int64_t found_at = find_bit(bytes, range, *bit == 1);
  call.executor.add_searched(bytes_to(found_at < 0 ? range.last : found_at, range));
  // Without an end that was named, zeros follow the last byte.
  if (found_at < 0 && *bit == 0 && args.size() < 5 && range.first <= range.last) {
    found_at = size * 8;
  }
  call.out.integer(found_at);
  return Done::replied;
}

}  // namespace remora::resp
