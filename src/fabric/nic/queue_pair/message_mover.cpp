#include "fabric/nic/queue_pair/message_mover.h"

#include <algorithm>

namespace remora::fabric::nic {

const char* why_not_bind(const MessageLog& log, DomainId domain, const Memory& memory) {
  const MessageLogOptions& options = log.options();
  const RegisteredMemory* region = memory.find(domain, log.region().local_key());
  if (region == nullptr || region->persistence == nullptr || region->translation != nullptr) {
    return "a log lies in a region of the queue pair's domain, which was registered with the "
           "memory that makes it persistent";
  }
  if (options.places == 0 || options.place_bytes == 0 ||
      options.place_bytes % cache_line_bytes != 0 ||
      (reinterpret_cast<std::uintptr_t>(region->bytes.data()) + options.offset) %
              cache_line_bytes !=
          0) {
    return "places of a log are whole cache lines, one at least";
  }
  if (!within(options.offset, std::uint64_t{options.places} * options.place_bytes,
              region->bytes.size())) {
    return "the log does not lie within its region";
  }
  return nullptr;
}

MessageMover::MessageMover(Connection& connection, MessageLog& log, const QueuePairOptions& options)
    : connection_(connection),
      engine_(connection.engine),
      log_(log),
      max_pieces_(options.max_pieces),
      messages_(std::max(options.max_receives, 1U)),
      pieces_(messages_.size() * max_pieces_) {}

std::span<const Sge> MessageMover::pieces_of(std::uint32_t index) const {
  const std::size_t slot = (first_ + index) % messages_.size();
  return {pieces_.data() + slot * max_pieces_, messages_[slot].pieces};
}

void MessageMover::hold(ReceiveQueue& queue, std::uint32_t size_bytes,
                        std::uint32_t skipped_bytes) {
  const std::span<const Sge> pieces = queue.front_pieces();
  const std::size_t slot = (first_ + held_) % messages_.size();
  messages_[slot] = {queue.front_id(), pieces.size(), size_bytes, skipped_bytes, false};
  std::ranges::copy(pieces, pieces_.begin() + static_cast<std::ptrdiff_t>(slot * max_pieces_));
  queue.pop();
  ++held_;
}

bool MessageMover::move(PersistSteps& steps) {
  engine_.dma.place_all(connection_.number);
  if (!by_itself()) {
    engine_.wire.charge(Wire::Cost::log_lookup, held_);
  }
  for (moved_ = 0; moved_ < held_; ++moved_) {
    if (!move_one(moved_, steps)) {
      moved_ = 0;
      return false;
    }
  }
  return true;
}

// In an ordered log all but the first line, of which a word comes when that is persistent.
bool MessageMover::move_one(std::uint32_t index, PersistSteps& steps) {
  const RemoteKey key = log_.region().local_key();
  const RegisteredMemory* region = engine_.memory.find(connection_.domain, key);
  if (region == nullptr) {
    return false;
  }
  std::byte* const place = region->bytes.data() + log_.offset_of(log_.filled() + index);
  const std::uint64_t from = log_.least_bytes();
  const std::uint64_t size = at(index).size_bytes - from;
  if (size != 0) {
    if (!copy(index, from, size, place + from)) {
      return false;
    }
    engine_.wire.charge(Wire::Cost::memory_write, size);
    steps.flush(key, ConstBytes(place + from, size));
  }
  if (from != 0) {
    std::byte word[word_bytes];
    const std::uint64_t skipped = at(index).skipped_bytes;
    if (find_parts(connection_, pieces_of(index), skipped, word_bytes, local_read, parts_) !=
        Whereabouts::there) {
      return false;
    }
    gather(parts_, word);
    steps.add_word({reinterpret_cast<std::uintptr_t>(place), key}, load<std::uint64_t>(word));
  }
  return true;
}

bool MessageMover::copy(std::uint32_t index, std::uint64_t from, std::uint64_t size,
                        std::byte* to) {
  if (find_parts(connection_, pieces_of(index), at(index).skipped_bytes + from, size, local_read,
                 parts_) != Whereabouts::there) {
    return false;
  }
  for (const Bytes part : parts_.all()) {
    engine_.dma.write(connection_.number, to, part);
    to += part.size();
  }
  return true;
}

void MessageMover::complete(const Held& held, std::uint64_t place) {
  connection_.receive_completions->push(
      {.id = held.id,
       .status = WorkStatus::success,
       .opcode = Opcode::receive_logged,
       .immediate = static_cast<std::uint32_t>(place % log_.options().places),
       .size_bytes = held.size_bytes,
       .qp = connection_.number});
}

std::uint64_t MessageMover::tell() {
  for (std::uint32_t i = 0; i < moved_; ++i) {
    if (!at(i).told) {
      complete(at(i), log_.filled() + i);
    }
  }
  log_.fill(moved_);
  first_ = static_cast<std::uint32_t>((first_ + moved_) % messages_.size());
  held_ -= moved_;
  moved_ = 0;
  return log_.filled() - 1;
}

void MessageMover::tell_early() {
  for (std::uint32_t i = 0; i < held_; ++i) {
    if (!at(i).told) {
      at(i).told = true;
      complete(at(i), log_.filled() + i);
    }
  }
}

void MessageMover::flush() {
  for (std::uint32_t i = 0; i < held_; ++i) {
    if (!at(i).told) {
      connection_.receive_completions->push({.id = at(i).id,
                                             .status = WorkStatus::flushed,
                                             .opcode = Opcode::receive,
                                             .qp = connection_.number});
    }
  }
  clear();
}

}  // namespace remora::fabric::nic
