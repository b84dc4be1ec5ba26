// ByteRing: packets of any length from one producer to one consumer, through memory that two
// processes share. Lossless and in order.
//
// A record is a word with the size of the packet, then the packet, in whole cache lines. It is
// published by that word: there is no shared producer position. A packet that is small begins
// behind that word; a larger one ends where its last line ends, so that payload of whole lines lies
// in whole lines, whatever the headers before it take. Whoever publishes a record has first cleared
// the size word of the place behind it, so that a consumer never takes bytes of an earlier lap for
// a record. A packet that does not fit before the end of the ring is preceded by a skip record.
//
// A record may carry a rider, a packet of a fixed small size, between that word and its own packet:
// an acknowledgement then costs the consumer no line of its own. A bit of the size word says so.
//
// A record may lend its payload: it says where that lies, in memory that the consumer can read too,
// and leaves the room for it empty. The producer can have a loan back at any time, without asking:
// it copies the payload into that room and then says so in a word of the record. A consumer that
// has copied from elsewhere looks at that word once more, and if it has changed, takes what is in
// the record: whatever the producer did to its memory after that, the consumer never sees.
//
// A consumer that polls the size word takes its line away from a producer that fills it. So a
// producer does well to write the payload first, the headers after it and then to commit: by the
// time that it has the line again all of its stores wait for it, and none needs it twice.
//
// The two sides do not trust each other. Each keeps its own position in private memory, copies a
// word of the other's once and checks the copy. A size or position that cannot be right makes the
// ring `broken`, for good; the worst that a peer can do otherwise is to send nonsense packets.
//
// Sleeping. A consumer that is going to sleep says so in shared memory and looks once more; a
// producer that has published asks for that word by a read-modify-write, so that one of the two
// sees the other. The same holds, with the roles exchanged, for a producer that waits for room. How
// the sleeper is woken is the owner's affair.
//
// One thread for each side. Nothing blocks, allocates or calls the system.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/check.h"
#include "base/racy_copy.h"
#include "fabric/nic/wire/ring/ring_limits.h"
#include "fabric/nic/wire/ring/ring_record.h"

namespace remora::fabric::nic::ring {

class RingProducer {
 public:
  // `data` is a power of two in size and begins at a cache line; both outlive the producer.
  RingProducer(RingControl& control, Bytes data, std::size_t max_packet_bytes)
      : control_(&control), data_(data), max_packet_bytes_(max_packet_bytes) {
    REMORA_CHECK(std::has_single_bit(data.size()) && byte_ring::fits(max_packet_bytes, data.size()),
                 "the ring is too small for its packets");
  }

  // Asks for the line that the next packet is published in, which the consumer has been polling: it
  // comes while the packet is made.
  void prepare() const { own(tail_); }

  // Room for one packet of exactly this size, to be filled in place; empty when there is none now,
  // or the ring is broken. A second reservation replaces one that was not committed. The rider, if
  // it is not empty, has rider_bytes, which count as the packet's own for the size that fits.
  [[gnu::always_inline]] Bytes reserve(std::size_t size_bytes, ConstBytes rider = {}) {
    REMORA_CHECK(size_bytes > 0 && size_bytes + rider.size() <= max_packet_bytes_,
                 "no such packet on this ring");
    reserved_ = {static_cast<std::uint32_t>(size_bytes), !rider.empty()};
    const std::size_t record = reserved_record_ = reserved_.record_bytes();
    const std::size_t offset = tail_ & (data_.size() - 1);
    const std::size_t to_end = data_.size() - offset;
    skipped_bytes_ = record <= to_end ? 0 : to_end;
    // One line more, for the cleared size word behind the record.
    const std::size_t needed = skipped_bytes_ + record + cache_line_bytes;
    if (broken_ || (needed > room() && !find_room(needed))) {
      reserved_ = {};
      awaited_bytes_ = std::max(awaited_bytes_, needed);
      return {};
    }
    if (reserved_.has_rider) {
      REMORA_CHECK(rider.size() == byte_ring::rider_bytes, "no such rider");
      std::memcpy(rider_.data(), rider.data(), byte_ring::rider_bytes);
    }
    awaited_bytes_ = needed >= awaited_bytes_ ? 0 : awaited_bytes_;
    const std::size_t at = skipped_bytes_ == 0 ? offset : 0;
    // Now, since the line of this word is not polled yet and that of the record is.
    byte_ring::size_word(data_, (at + record) & (data_.size() - 1))
        .store(byte_ring::size_of_nothing, std::memory_order_relaxed);
    return data_.subspan(at + reserved_.packet_offset(), size_bytes);
  }

  // Whether so much more may be lent; if not, then when the consumer has taken some of what is. It
  // is asked only if there seems to be no room.
  bool may_lend(std::size_t size_bytes) {
    const auto has_room = [&] {
      return loan_count_ != loans_.size() &&
             lent_bytes_ + size_bytes <= data_.size() / limits::lent_part;
    };
    if (!has_room()) {
      (void)find_room(0);
      forget_consumed_loans();
    }
    return has_room();
  }

  // The end of the packet that was reserved is not filled in, but lent: the consumer finds these
  // bytes by the loan, as they are when it looks. They are there until the record is consumed, or
  // until recall. False when there is no room for a loan: then it has to be filled in.
  bool lend(const byte_ring::Loan& loan, ConstBytes from) {
    REMORA_CHECK(loan.size_bytes == from.size() && from.size() < reserved_.packet_bytes,
                 "no such loan");
    if (!reserved_.may_lend() || !may_lend(from.size())) {
      return false;
    }
    const std::uint64_t start = tail_ + skipped_bytes_;
    reserved_.has_loan = true;
    loans_[(first_loan_ + loan_count_) % loans_.size()] = {start, reserved_, from};
    loan_ = loan;
    return true;
  }

  // Has all loans back: their bytes, as they are now, are in their records. After this they may
  // change, or go. Whether any was out.
  bool recall() {
    (void)find_room(0);
    forget_consumed_loans();  // their places may be others' by now
    const bool any = loan_count_ != 0;
    for (; loan_count_ != 0; forget_first_loan()) {
      const Lent& lent = loans_[first_loan_];
      // The consumer may have consumed it without saying so: its place is still this side's.
      const std::size_t at = lent.start & (data_.size() - 1);
      const std::size_t end = at + lent.shape.packet_offset() + lent.shape.packet_bytes;
      racy_copy_words(data_.subspan(end - lent.from.size()), lent.from);
      loan_word(at).store(0, std::memory_order_release);
    }
    byte_ring::fence();
    return any;
  }

  // Publishes what was reserved; nothing when nothing is.
  void commit() {
    if (reserved_.packet_bytes == 0) {
      return;
    }
    const std::size_t mask = data_.size() - 1;
    const std::uint64_t start = tail_ + skipped_bytes_;
    if (reserved_.has_rider) {
      racy_copy(data_.subspan((start & mask) + byte_ring::size_word_bytes, rider_.size()), rider_);
    }
    if (reserved_.has_loan) {
      racy_copy(data_.subspan((start & mask) + byte_ring::loan_offset, sizeof loan_),
                object_bytes(loan_));
      loan_word(start & mask).store(1, std::memory_order_relaxed);
      lent_bytes_ += loan_.size_bytes;
      ++loan_count_;
    }
    byte_ring::size_word(data_, start & mask).store(reserved_.word(), std::memory_order_release);
    if (skipped_bytes_ != 0) {
      byte_ring::size_word(data_, tail_ & mask)
          .store(byte_ring::size_of_skip, std::memory_order_release);
    }
    tail_ = start + reserved_record_;
    // A loan touches one line.
    own_ahead(reserved_.has_loan ? cache_line_bytes : reserved_record_);
    reserved_ = {};
  }

  // While there is nothing to do: asks for some more of the lines that a packet like the last one
  // will be written to.
  void own_more() {
    for (std::size_t line = 0; line < limits::lines_owned_idly && owned_ < wanted_; ++line) {
      own(owned_);
      owned_ += cache_line_bytes;
    }
  }

  // To be asked after packets were published: whether the consumer sleeps and must be woken. Says
  // so once. It waits until all that was published has left this processor.
  bool must_wake_consumer() { return byte_ring::take_sleeper(control_->consumer_sleeps); }
  // The same of a consumer that slept before, without that wait: one that was going to sleep while
  // packets were published may be missed, so that the other has to be asked later.
  bool must_wake_sleeper() {
    return control_->consumer_sleeps.load(std::memory_order_relaxed) != 0 && must_wake_consumer();
  }

  // A reservation failed for lack of room, and none of its size has succeeded since.
  bool waits_for_room() const { return awaited_bytes_ != 0; }
  // Asks to be woken when there may be room for it. False when there is now, which ends the
  // waiting, or when the ring is broken: then nobody was asked.
  bool arm() {
    control_->producer_sleeps.exchange(1, std::memory_order_acq_rel);
    if (!find_room(awaited_bytes_) && !broken_) {
      return true;
    }
    awaited_bytes_ = 0;
    disarm();
    return false;
  }
  void disarm() { control_->producer_sleeps.store(0, std::memory_order_relaxed); }

  bool broken() const { return broken_; }

 private:
  // Asks for the lines that a packet like this one will be written to, but for the first, which the
  // consumer is going to poll: for a few now, since the next packet may follow at once, and for the
  // others by own_more.
  void own_ahead(std::size_t record) {
    const std::size_t lines = std::min(record / cache_line_bytes, limits::lines_owned_ahead);
    wanted_ = tail_ + record;
    owned_ = tail_ + cache_line_bytes;
    for (std::size_t line = 0; line < lines; ++line) {
      own(owned_);
      owned_ += cache_line_bytes;
    }
  }
  void own(std::uint64_t position) const {
    const std::byte* const line = data_.data() + (position & (data_.size() - 1));
#if defined(__x86_64__)
    // The compiler's own prefetch asks for a line to write to only where it is told of the
    // processor.
    __asm__ volatile("prefetchw %0" : : "m"(*line));
#else
    __builtin_prefetch(line, 1);
#endif
  }

  std::atomic_ref<std::uint32_t> loan_word(std::size_t at) {
    return byte_ring::size_word(data_, at + byte_ring::loan_word_offset);
  }

  void forget_consumed_loans() {
    while (loan_count_ != 0 && loans_[first_loan_].start < consumed_) {
      forget_first_loan();
    }
  }
  void forget_first_loan() {
    lent_bytes_ -= loans_[first_loan_].from.size();
    first_loan_ = (first_loan_ + 1) % loans_.size();
    --loan_count_;
  }

  std::size_t room() const {
    return data_.size() - static_cast<std::size_t>(tail_ - consumed_);
  }

  // Looks at the consumer's position. It only goes forward, and never past what was published.
  bool find_room(std::size_t needed_bytes) {
    const std::uint64_t consumed = control_->consumed.load(std::memory_order_acquire);
    if (broken_ || consumed - consumed_ > tail_ - consumed_) {
      broken_ = true;
      return false;
    }
    consumed_ = consumed;
    return needed_bytes <= room();
  }

  RingControl* control_;
  Bytes data_;
  std::size_t max_packet_bytes_;
  std::uint64_t tail_ = 0;           // where the next record goes
  std::uint64_t owned_ = 0;          // the lines before it were asked for,
  std::uint64_t wanted_ = 0;         // and those before this are going to be
  std::uint64_t consumed_ = 0;       // the consumer's position as last seen
  byte_ring::Shape reserved_;        // the open reservation; of no bytes when there is none
  std::size_t reserved_record_ = 0;  // and what it takes in the ring
  std::array<std::byte, byte_ring::rider_bytes> rider_;  // of that
  std::size_t skipped_bytes_ = 0;  // up to the end of the ring, before the reserved record
  std::size_t awaited_bytes_ = 0;  // of room, by a reservation that failed
  bool broken_ = false;
  byte_ring::Loan loan_;  // of the open reservation
  // Records that may not have been consumed, in their order.
  struct Lent {
    std::uint64_t start = 0;
    byte_ring::Shape shape;
    ConstBytes from;
  };
  std::array<Lent, limits::loans> loans_;
  std::size_t first_loan_ = 0;
  std::size_t loan_count_ = 0;
  std::size_t lent_bytes_ = 0;  // by them
};

class RingConsumer {
 public:
  // As the producer's. Packets larger than `max_packet_bytes` break the ring.
  RingConsumer(RingControl& control, Bytes data, std::size_t max_packet_bytes)
      : control_(&control), data_(data), max_packet_bytes_(max_packet_bytes) {
    REMORA_CHECK(std::has_single_bit(data.size()) && byte_ring::fits(max_packet_bytes, data.size()),
                 "the ring is too small for its packets");
  }

  // The next packet, in place; empty when there is none, or the ring is broken. The span is checked
  // and stays, but the peer may change the bytes at any time.
  [[gnu::always_inline]] ConstBytes peek() {
    std::uint32_t word = size_at_head();
    if (word == byte_ring::size_of_nothing) [[likely]] {
      // The payload of a packet like the last one then comes together with its size, not after it.
      if (peeked_record_ > cache_line_bytes) {
        prefetch(1);
      }
      return {};
    }
    if (word == byte_ring::size_of_skip && offset() != 0) {
      head_ += data_.size() - offset();
      word = size_at_head();
      if (word == byte_ring::size_of_nothing) {
        return {};
      }
    }
    const byte_ring::Shape shape = byte_ring::Shape::of(word);
    if (broken_ || !may_be(shape, offset())) {
      broken_ = true;
      return {};
    }
    peeked_ = shape;
    peeked_record_ = shape.record_bytes();
    return data_.subspan(offset() + shape.packet_offset(), shape.packet_bytes);
  }

  // The rider of the packet that peek showed, to be handed over before it; empty when it has none.
  ConstBytes rider() const {
    return peeked_.has_rider
               ? data_.subspan(offset() + byte_ring::size_word_bytes, byte_ring::rider_bytes)
               : Bytes();
  }
  // Whether the packet that peek showed has a loan, or had one.
  bool has_loan() const { return peeked_.has_loan; }
  // The loan of the packet that peek showed, whose end is not in the ring then: nothing when it has
  // none, or none any more. To be copied; whoever has done so asks is_out.
  std::optional<byte_ring::Loan> loan() const {
    if (!peeked_.has_loan || !is_out()) {
      return std::nullopt;
    }
    byte_ring::Loan loan;
    racy_copy(std::as_writable_bytes(std::span(&loan, 1)),
              data_.subspan(offset() + byte_ring::loan_offset, sizeof loan));
    return loan;
  }
  // Whether what was copied before this was as it had been lent. If not, the packet is in the ring.
  bool is_out() const {
    byte_ring::fence_loads();
    return byte_ring::size_word(data_, offset() + byte_ring::loan_word_offset)
               .load(std::memory_order_acquire) != 0;
  }
  // What the two take in the ring.
  std::size_t peeked_record_bytes() const { return peeked_record_; }

  // Brings the place of the next packet on its way into the caches, for who will peek soon.
  void expect() const {
    prefetch(0);
    prefetch(1);
  }

  // Calls visit(packet) for each packet that is there already, from the one that peek would show
  // on, and for `count` at most. Bytes as those of peek. Small ones are all asked for first: each
  // costs two lines, which otherwise come one after the other.
  template <typename Visit>
  void look_ahead(std::size_t count, Visit visit) const {
    constexpr std::size_t lines_at_most = 4;
    const std::size_t lines = peeked_record_ / cache_line_bytes;
    for (std::size_t line = 1; lines <= lines_at_most && line < count * lines; ++line) {
      prefetch(line);
    }
    std::uint64_t at = head_;
    for (; count > 0; --count) {
      const std::size_t start = at & (data_.size() - 1);
      const std::uint32_t word = byte_ring::size_word(data_, start).load(std::memory_order_acquire);
      const byte_ring::Shape shape = byte_ring::Shape::of(word);
      if (word == byte_ring::size_of_nothing || !may_be(shape, start)) {
        return;
      }
      if (!shape.has_loan) {
        visit(ConstBytes(data_).subspan(start + shape.packet_offset(), shape.packet_bytes));
      }
      at += shape.record_bytes();
    }
  }

  // Gives the place of the packet that peek showed back. True when the producer waits for room and
  // must be woken.
  [[nodiscard]] bool consume() {
    head_ += peeked_record_;
    // A producer has an interest in its loans beyond their room.
    if (head_ - told_ < data_.size() / limits::positions_per_lap && !peeked_.has_loan) {
      return false;
    }
    told_ = head_;
    control_->consumed.store(head_, std::memory_order_release);
    return byte_ring::take_sleeper(control_->producer_sleeps);
  }

  // Asks to be woken by the next packet. False when there is one now: then nobody was asked.
  bool arm() {
    control_->consumer_sleeps.exchange(1, std::memory_order_acq_rel);
    if (size_at_head() == byte_ring::size_of_nothing) {
      return true;
    }
    disarm();
    return false;
  }
  void disarm() { control_->consumer_sleeps.store(0, std::memory_order_relaxed); }

  bool broken() const { return broken_; }

 private:
  // Whether such a record may begin there. A rider alone is none.
  bool may_be(const byte_ring::Shape& shape, std::size_t at) const {
    return shape.packet_bytes != 0 && shape.packet_bytes <= max_packet_bytes_ &&
           (!shape.has_loan || shape.may_lend()) &&
           within(at + shape.packet_offset(), shape.packet_bytes, data_.size());
  }
  std::size_t offset() const { return head_ & (data_.size() - 1); }
  void prefetch(std::size_t lines) const {
    __builtin_prefetch(data_.data() + ((head_ + lines * cache_line_bytes) & (data_.size() - 1)));
  }
  std::uint32_t size_at_head() const {
    return byte_ring::size_word(data_, offset()).load(std::memory_order_acquire);
  }

  RingControl* control_;
  Bytes data_;
  std::size_t max_packet_bytes_;
  std::uint64_t head_ = 0;  // where the next record is
  std::uint64_t told_ = 0;  // the position that the producer knows
  byte_ring::Shape peeked_;
  std::size_t peeked_record_ = 0;  // what that takes in the ring
  bool broken_ = false;
};

}  // namespace remora::fabric::nic::ring
