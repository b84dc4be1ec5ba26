// Lending: payload that a packet does not carry. Where both ends of a link belong to one user, and
// memory is a sealed memory file, the sender shows it to the receiver once, and from then on puts
// into the ring where the payload lies; the receiver takes it from there. So its bytes cross
// between the two processors once.
//
// Offers is what this side shows to others, Borrowed what one peer has shown to this side: mapped
// for reading only, and nothing that the peer does later can make reading it fail.
//
// One thread. Showing and mapping call the system; finding does not.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "fabric/nic/wire/descriptor.h"
#include "fabric/nic/wire/ring/ring_limits.h"
#include "pmem/region.h"

namespace remora::fabric::nic::ring {

// Trust. What is registered, and used for payload of that size, is shown as a whole, and a process
// of the same user can make it writable for itself; as with `mapped`, such processes are trusted.
// Others are shown nothing. A borrower need not trust: what it reads cannot be cut short, and
// counts as sent.
struct LendingOptions {
  // Whose processes payload is lent to and borrowed from. Nobody's: there is none.
  std::optional<uid_t> to = ::geteuid();
  std::uint32_t from_bytes = limits::lent_bytes_min;
};

// What two ends say to each other about memory that is shown (docs/formats/ring.md).
enum class LendingKind : std::uint16_t {
  show = 1,    // lender: brings the file
  seen = 2,    // borrower: packets may refer to it
  forget = 3,  // lender: no packet refers to it any more
};
struct LendingMessage {
  std::uint16_t kind = 0;
  std::uint16_t zero = 0;
  std::uint32_t number = 0;  // the lender's, never used again
  std::uint64_t size_bytes = 0;
  std::uint64_t offset = 0;  // of its first byte in the file
};
inline constexpr std::size_t lending_message_bytes = 24;
static_assert(sizeof(LendingMessage) == lending_message_bytes);

// The message, if these bytes are exactly one that can be.
std::optional<LendingMessage> parse_lending(ConstBytes bytes);

class Offers {
 public:
  struct Offer {
    ConstBytes memory;
    std::uint64_t offset = 0;  // in the file
    std::uint32_t number = 0;
    std::uint32_t count = 0;  // how often it is on offer
    Descriptor file;          // for reading only
  };

  // Once more on offer; nothing happens where the file could be cut short, or is none.
  void add(ConstBytes memory, const Backing& backing);
  // Once less; its number when that was the last time.
  std::optional<std::uint32_t> remove(ConstBytes memory);
  // The one that holds all of these bytes, or null.
  const Offer* find(ConstBytes bytes) const;
  const std::vector<Offer>& all() const { return offers_; }

 private:
  std::vector<Offer> offers_;
  std::uint32_t numbers_ = 0;
};

class Borrowed {
 public:
  Borrowed() = default;
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  ~Borrowed();

  // Maps what the message says; or why not.
  Status map(const LendingMessage& message, Descriptor file);
  void unmap(std::uint32_t number);
  // These bytes of it; empty when they are not within what was shown.
  ConstBytes find(std::uint32_t number, std::uint64_t offset, std::uint64_t size_bytes) const;

 private:
  struct Memory {
    std::uint32_t number;
    ConstBytes pages;
    ConstBytes bytes;
  };
  std::vector<Memory> memories_;
  std::uint64_t mapped_bytes_ = 0;
};

}  // namespace remora::fabric::nic::ring
