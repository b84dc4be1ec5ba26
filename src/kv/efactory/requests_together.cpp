// Several keys at once, as clients ask for them.
#include <algorithm>

#include "kv/efactory/faults.h"
#include "kv/efactory/requests.h"
#include "kv/efactory/together_message.h"

namespace remora::kv::efactory {

// What has come of a write takes memory until all of it is here, and more than the log could have
// room for never will be.
rpc::Reply Requests::gather(const rpc::Session& session, ConstBytes request, Bytes body,
                            Durability durability) {
  const std::optional<TogetherPart> part = read_struct<TogetherPart>(request);
  if (!part) {
    return rpc::Reply::failure(body, Code::invalid_argument, "no such request");
  }
  const ConstBytes bytes = request.subspan(sizeof(TogetherPart));
  if (part->offset == 0 && part->total_bytes == bytes.size()) {
    return write_together(bytes, body, durability);
  }
  const std::uint64_t room_bytes = catalogue_.log().usage().total_bytes;
  if (part->total_bytes > std::min(room_bytes, options_.client_bytes)) {
    gathered_.end(session.id);
    return rpc::Reply::failure(body, Code::no_space, "the store has no room for all of it");
  }
  const Result<bool> is_whole =
      gathered_.add(session.id, part->total_bytes, part->offset, bytes, room_bytes);
  if (!is_whole.ok()) {
    return failed(is_whole.status(), body);
  }
  if (host_.faults().planted(faults::together_judged_early) && part->offset == 0) {
    judged_ = holds_so_far(bytes);
  }
  if (!*is_whole) {
    return {};
  }
  const rpc::Reply reply = write_together(gathered_.of(session.id), body, durability);
  gathered_.end(session.id);
  return reply;
}

// As by the server's own process, and with it made persistent.
rpc::Reply Requests::write_together(ConstBytes packed, Bytes body, Durability durability) {
  std::optional<UnpackedWrite> write = unpack_write(packed);
  if (!write) {
    return rpc::Reply::failure(body, Code::invalid_argument, "no such request");
  }
  if (write->repeats_a_condition()) {
    return rpc::Reply::failure(body, Code::invalid_argument,
                               "several conditions of one write name the same key");
  }
  if (!cleaner_.in_pace()) {
    return full(body);
  }
  if (host_.faults().planted(faults::together_judged_early) && packed.size() > request_bytes_max) {
    if (!judged_) {
      return rpc::Reply::failure(body, Code::conflict, "a condition did not hold");
    }
    write->conditions.clear();
  }
  const Result<LocalStore::Mark> made = local_.write_together(write->view());
  if (!made.ok()) {
    return failed(made.status(), body);
  }
  puts_ += write->writes.size();
  for (const Write& one : write->writes) {
    cleaner_.took_in_pace(
        object_format::size_bytes(one.key.size(), one.value ? one.value->size() : 0));
  }
  local_.hurry();
  const bool waits =
      durability == Durability::persistent && !host_.faults().planted(faults::together_not_awaited);
  return {.ticket = waits ? host_.drain() : Ticket{}};
}

// Of the first part, conditions that are whole.
bool Requests::holds_so_far(ConstBytes part) {
  std::optional<TogetherHead> head = read_struct<TogetherHead>(part);
  part = part.subspan(std::min(part.size(), sizeof(TogetherHead)));
  for (std::uint32_t i = 0; head && i < head->conditions; ++i) {
    const std::optional<ConditionHead> one = read_struct<ConditionHead>(part);
    if (!one || one->key_bytes > part.size() - sizeof(ConditionHead)) {
      break;
    }
    const Result<std::uint64_t> version =
        catalogue_.version_of(part.subspan(sizeof(ConditionHead), one->key_bytes));
    if (!version.ok() || *version != one->version) {
      return false;
    }
    part = part.subspan(sizeof(ConditionHead) + one->key_bytes);
  }
  return true;
}

}  // namespace remora::kv::efactory
