// How a client and a store host prove to each other that they know a token, which itself does not
// travel: each has drawn a nonce for the link and told it, and puts into its message an
// HMAC-SHA-256 with the token as key, over both nonces, the number of such messages of this side so
// far, and the message. So what was heard on the way serves for no other link, message or time.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "link/session_message.h"

namespace remora::link {

enum class ProofSide : std::uint8_t { client = 1, host = 2 };

// What both sides have told each other on a link.
struct ProofTalk {
  SessionNonce client = {};
  SessionNonce host = {};
};

// From the system's random source.
SessionNonce fresh_nonce();
// A token that nobody knows: 64 letters.
std::string fresh_token();

// The proof that belongs into this message, of which that field does not count.
SessionProof prove(std::string_view token, ProofSide side, const ProofTalk& talk,
                   std::uint32_t number, const SessionMessage& message);
// Whether it is in the message. Takes as long for one that is almost right as for any other.
bool is_proven(std::string_view token, ProofSide side, const ProofTalk& talk, std::uint32_t number,
               const SessionMessage& message);

}  // namespace remora::link
