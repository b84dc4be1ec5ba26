#include "rpc/calls/session_log.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "rpc/calls/faults.h"

namespace remora::rpc::calls {

using log_format::Identity;
using log_format::Mark;

namespace {

constexpr std::string_view table_root = "calls";
constexpr std::uint64_t table_bytes = most_sessions * word_bytes;

Offset word_of(Offset table, std::uint32_t index) {
  return table + index * word_bytes;
}

Result<Offset> find_table(Pool& pool) {
  Result<Offset> found = pool.root(table_root);
  if (found.ok() || found.code() != Code::not_found) {
    return found;
  }
  REMORA_TRY_RESULT(table, pool.reserve(table_bytes, Account::calls));
  std::ranges::fill(pool.object(*table).first(table_bytes), std::byte{0});
  Transaction transaction;
  REMORA_TRY(transaction.publish(*table, table_bytes));
  REMORA_TRY(transaction.set_root(table_root, *table));
  REMORA_TRY_RESULT(ticket, pool.commit(transaction));
  REMORA_TRY(pool.wait(*ticket));
  return *table;
}

std::optional<Mark> read_mark(ConstBytes bytes, std::uint64_t session) {
  Mark mark;
  std::memcpy(&mark, bytes.data(), sizeof mark);
  const bool is_good = mark.checksum == checksum_of(mark, session) &&
                       mark.head % cache_line_bytes == 0 && mark.sequence > 0 &&
                       mark.acknowledged < mark.sequence &&
                       (mark.form == Form::checksum || mark.form == Form::ordered);
  return is_good ? std::optional(mark) : std::nullopt;
}

}  // namespace

Result<std::vector<Offset>> SessionLog::find_all(Pool& pool) {
  REMORA_TRY_RESULT(table, find_table(pool));
  std::vector<Offset> logs;
  for (std::uint32_t i = 0; i < most_sessions; ++i) {
    if (const Offset log = pool.load(word_of(*table, i)); log != 0) {
      logs.push_back(log);
    }
  }
  return logs;
}

Result<Offset> SessionLog::create(Pool& pool, const SessionShape& shape, Ticket& ticket) {
  if (!log_format::is_ring_size(shape.ring_bytes) || shape.window == 0 ||
      shape.window > log_format::largest_window || shape.name.empty() ||
      shape.name.size() > log_format::longest_name) {
    return Status(Code::invalid_argument,
                  "a session needs a name of 1 to 32 bytes, a window of 1 to 4096 calls, and a log "
                  "of 4 KiB to 32 MiB whose size is a multiple of 256");
  }
  REMORA_TRY_RESULT(table, find_table(pool));
  std::uint32_t index = 0;
  while (index < most_sessions && pool.load(word_of(*table, index)) != 0) {
    ++index;
  }
  if (index == most_sessions) {
    return Status(Code::no_space, "the pool has as many sessions as it can; forget one");
  }
  REMORA_TRY_RESULT(place, pool.reserve(log_format::log_bytes(shape.ring_bytes), Account::calls));
  Identity identity{.magic = log_format::magic,
                    .version = log_format::version,
                    .window = shape.window,
                    .session = shape.session,
                    .ring_bytes = shape.ring_bytes,
                    .secret = shape.secret,
                    .name = {},
                    .reserved = {},
                    .reserved_tail = 0,
                    .checksum = 0};
  std::ranges::copy(shape.name, identity.name.begin());
  identity.checksum = checksum_of(identity);
  Mark mark{.number = 1,
            .epoch = 1,
            .head = 0,
            .sequence = 1,
            .acknowledged = 0,
            .holder = shape.holder,
            .form = shape.form,
            .reserved = 0,
            .reserved_tail = 0,
            .checksum = 0};
  mark.checksum = checksum_of(mark, shape.session);
  const Bytes bytes = pool.object(*place);
  std::ranges::fill(bytes.first(log_format::ring_offset), std::byte{0});
  std::memcpy(bytes.data(), &identity, sizeof identity);
  std::memcpy(&bytes[log_format::marks_offset + sizeof mark], &mark, sizeof mark);
  Transaction transaction;
  REMORA_TRY(transaction.publish(*place, log_format::ring_offset));
  REMORA_TRY(transaction.set(word_of(*table, index), *place));
  REMORA_TRY_RESULT(committed, pool.commit(transaction));
  ticket = *committed;
  return *place;
}

Result<std::unique_ptr<SessionLog>> SessionLog::open(const Host& host, Pool& pool, Offset place) {
  const Bytes bytes = pool.is_live(place) ? pool.object(place) : Bytes();
  Identity identity{};
  if (bytes.size() >= log_format::ring_offset) {
    std::memcpy(&identity, bytes.data(), sizeof identity);
  }
  if (identity.magic != log_format::magic || identity.checksum != checksum_of(identity) ||
      identity.version != log_format::version || !log_format::is_ring_size(identity.ring_bytes) ||
      log_format::log_bytes(identity.ring_bytes) > bytes.size() || identity.window == 0 ||
      identity.window > log_format::largest_window) {
    return Status(Code::damaged, "a log of calls fails its checks: its identity is damaged");
  }
  std::optional<Mark> newest;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::optional<Mark> mark =
        read_mark(bytes.subspan(log_format::marks_offset + i * sizeof(Mark)), identity.session);
    if (mark && (!newest || mark->number > newest->number)) {
      newest = mark;
    }
  }
  if (!newest) {
    return Status(Code::damaged, "a log of calls fails its checks: both of its marks are damaged");
  }
  return std::unique_ptr<SessionLog>(new SessionLog(host, bytes, identity, *newest));
}

std::string_view SessionLog::name() const {
  return {identity_.name.data(), strnlen(identity_.name.data(), identity_.name.size())};
}

Ticket SessionLog::write(Mark mark) {
  mark.number = mark_.number + 1;
  mark.checksum = checksum_of(mark, identity_.session);
  mark_ = mark;
  const std::uint64_t which = host_.faults().planted(faults::mark_torn) ? 1 : mark.number % 2;
  const Bytes place = bytes_.subspan(log_format::marks_offset + which * sizeof mark, sizeof mark);
  std::memcpy(place.data(), &mark, sizeof mark);
  return host_.persist(place);
}

}  // namespace remora::rpc::calls
