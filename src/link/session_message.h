// What a client and a store host say to each other before the client can use the store: control
// messages of their link, in the form of docs/formats/session.md.
//
//   client           host
//   ask          ->                     which design serves this service? and my nonce
//                <-  offer              this one; and mine
//   join         ->                     my queue pair, and a proof that I know a token if I do
//                <-  welcome            yours, and your role; and a proof that I know that token
//
// and at any time
//
//   stat         ->                     how are you?
//                <-  facts              names and values
//   stop         ->                     end your service
//                <-  facts              the last ones
//   scrub        ->                     verify all that lives
//                <-  facts              before the first of it
//   grow         ->                     make the pool so large
//                <-  facts              when that has begun; later ones tell how it goes
//
// all with such a proof as the join. No token travels: token_proof.h says what a proof is.
//
// In place of its answer the host may send a refusal, with the reason. All of it comes from another
// process and may be anything.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "fabric/queue_pair.h"

namespace remora::link {

enum class SessionKind : std::uint16_t {
  ask = 1,
  offer = 2,
  join = 3,
  welcome = 4,
  refusal = 5,
  stat = 6,
  facts = 7,
  stop = 8,
  scrub = 9,
  grow = 10,
};

using SessionNonce = std::array<std::uint8_t, 16>;
using SessionProof = std::array<std::uint8_t, 32>;  // zeros: none

struct SessionMessage {
  SessionKind kind = SessionKind::ask;
  std::string service = {};                  // ask, offer and join
  std::string design = {};                   // offer and join: which serves it; a store's engine
  fabric::QueuePairAddress queue_pair = {};  // join and welcome
  Status reason = {};                        // refusal
  // welcome: the client's role; offer: "verbs" where the store is reached through an RDMA device;
  // grow: the size in bytes, and, where a file must be the pool, its device and its number
  std::string text = {};
  SessionNonce nonce = {};  // ask and offer
  SessionProof proof = {};  // join, welcome, stat, stop, scrub and grow, where a token is known
  std::string facts = {};   // facts: lines of a name, a space and a value (facts.h)
};

// The services of a pool that a client can join. Each is an account of the pool, too.
inline constexpr std::string_view store_service = "store";

// What an offer says where the store is reached through an RDMA device.
inline constexpr std::string_view offers_verbs = "verbs";

namespace session_format {

inline constexpr std::array<char, 8> magic = {'R', 'M', 'R', 'A', 'S', 'E', 'S', 'S'};
inline constexpr std::uint16_t version = 6;
inline constexpr std::size_t service_bytes = 16;
inline constexpr std::size_t design_bytes = 32;
inline constexpr std::size_t text_bytes = 108;
inline constexpr std::size_t frame_bytes = 4096;  // that a link carries

// Every message, whatever its kind; what a kind has no use for is zero. Facts have a tail behind
// it.
struct Message {
  std::array<char, 8> magic;
  std::uint16_t version;  // at the same place in every version
  std::uint16_t kind;
  std::uint32_t code;  // of a refusal
  std::array<char, service_bytes> service;
  std::array<char, design_bytes> design;
  std::uint32_t queue_pair;
  std::uint32_t first_packet;
  fabric::Gid gid;
  std::array<char, text_bytes> text;  // reason of a refusal, role
  SessionNonce nonce;
  SessionProof proof;
  std::uint32_t tail_bytes;
  std::uint32_t tail_checksum;  // crc32c of the tail
  std::uint32_t checksum;       // crc32c of all before it
};
static_assert(sizeof(Message) == 256 && offsetof(Message, version) == 8 &&
              offsetof(Message, service) == 16 && offsetof(Message, design) == 32 &&
              offsetof(Message, queue_pair) == 64 && offsetof(Message, gid) == 72 &&
              offsetof(Message, text) == 88 && offsetof(Message, nonce) == 196 &&
              offsetof(Message, proof) == 212 && offsetof(Message, tail_bytes) == 244 &&
              offsetof(Message, checksum) == 252);
inline constexpr std::size_t tail_bytes_max = frame_bytes - sizeof(Message);

}  // namespace session_format

// Texts that are too long are cut, facts behind a whole line.
std::vector<std::byte> encode(const SessionMessage& message);

// unsupported when it is of another version, damaged when it is none.
Result<SessionMessage> decode(ConstBytes bytes);

}  // namespace remora::link
