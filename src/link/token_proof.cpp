#include "link/token_proof.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <algorithm>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"

namespace remora::link {

SessionNonce fresh_nonce() {
  SessionNonce nonce;
  REMORA_CHECK(::RAND_bytes(nonce.data(), static_cast<int>(nonce.size())) == 1,
               "the system gives no random bytes");
  return nonce;
}

std::string fresh_token() {
  return fmt::format("{:02x}{:02x}", fmt::join(fresh_nonce(), ""), fmt::join(fresh_nonce(), ""));
}

SessionProof prove(std::string_view token, ProofSide side, const ProofTalk& talk,
                   std::uint32_t number, const SessionMessage& message) {
  constexpr std::string_view purpose = "remora session 6";
  SessionMessage bare = message;
  bare.proof = {};
  std::vector<std::byte> said;
  const auto add = [&said](ConstBytes bytes) {
    said.insert(said.end(), bytes.begin(), bytes.end());
  };
  std::array<std::byte, sizeof number> count;
  store(count.data(), number);
  add(as_bytes(purpose));
  said.push_back(static_cast<std::byte>(side));
  add(std::as_bytes(std::span(talk.client)));
  add(std::as_bytes(std::span(talk.host)));
  add(count);
  add(encode(bare));
  SessionProof proof;
  unsigned size = 0;
  const unsigned char* const made =
      ::HMAC(::EVP_sha256(), token.data(), static_cast<int>(token.size()),
             reinterpret_cast<const unsigned char*>(said.data()), said.size(), proof.data(), &size);
  REMORA_CHECK(made != nullptr && size == proof.size(), "libcrypto makes no HMAC-SHA-256");
  return proof;
}

bool is_proven(std::string_view token, ProofSide side, const ProofTalk& talk, std::uint32_t number,
               const SessionMessage& message) {
  const SessionProof right = prove(token, side, talk, number, message);
  return ::CRYPTO_memcmp(right.data(), message.proof.data(), right.size()) == 0;
}

}  // namespace remora::link
