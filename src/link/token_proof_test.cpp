#include "link/token_proof.h"

#include <gtest/gtest.h>

#include "link/wrong_tries.h"

namespace remora::link {
namespace {

constexpr std::string_view proven_token = "a token of some length";

SessionMessage proven_join(const ProofTalk& talk, std::uint32_t number) {
  SessionMessage message{.kind = SessionKind::join,
                         .service = "store",
                         .design = "efactory",
                         .queue_pair = {.number = 5, .first_packet = 6, .gid = {7}}};
  message.proof = prove(proven_token, ProofSide::client, talk, number, message);
  return message;
}

TEST(TokenProof, holds_for_the_token_the_talk_and_the_message_alone) {
  const ProofTalk talk{.client = fresh_nonce(), .host = fresh_nonce()};
  const SessionMessage join = proven_join(talk, 3);
  EXPECT_TRUE(is_proven(proven_token, ProofSide::client, talk, 3, join));
  EXPECT_FALSE(is_proven("a token of some lengtX", ProofSide::client, talk, 3, join));
  EXPECT_FALSE(is_proven(proven_token, ProofSide::host, talk, 3, join)) << "sent back";
  EXPECT_FALSE(is_proven(proven_token, ProofSide::client, talk, 4, join)) << "sent again";
  const ProofTalk later{.client = talk.client, .host = fresh_nonce()};
  EXPECT_FALSE(is_proven(proven_token, ProofSide::client, later, 3, join)) << "on another link";
  const ProofTalk earlier{.client = fresh_nonce(), .host = talk.host};
  EXPECT_FALSE(is_proven(proven_token, ProofSide::client, earlier, 3, join));
  SessionMessage changed = join;
  changed.queue_pair.number = 8;
  EXPECT_FALSE(is_proven(proven_token, ProofSide::client, talk, 3, changed));
  changed = join;
  changed.kind = SessionKind::stop;
  EXPECT_FALSE(is_proven(proven_token, ProofSide::client, talk, 3, changed));
}

TEST(TokenProof, is_not_the_token) {
  const ProofTalk talk{.client = fresh_nonce(), .host = fresh_nonce()};
  const std::vector<std::byte> bytes = encode(proven_join(talk, 0));
  EXPECT_EQ(as_text(bytes).find("token"), std::string_view::npos);
}

TEST(TokenProof, draws_what_nobody_expects) {
  EXPECT_NE(fresh_nonce(), fresh_nonce());
  EXPECT_NE(fresh_token(), fresh_token());
  EXPECT_EQ(fresh_token().size(), 64u);
}

TEST(WrongTries, make_one_wait_and_no_other) {
  WrongTries tries;
  for (std::uint32_t i = 0; i < WrongTries::most; ++i) {
    EXPECT_FALSE(tries.must_wait("one", 1000));
    tries.add("one", 1000);
  }
  EXPECT_TRUE(tries.must_wait("one", 1000));
  EXPECT_FALSE(tries.must_wait("other", 1000));
  EXPECT_TRUE(tries.must_wait("one", 999 + WrongTries::span_ns));
  EXPECT_FALSE(tries.must_wait("one", 1000 + WrongTries::span_ns));
  tries.add("one", 1000 + WrongTries::span_ns);
  EXPECT_FALSE(tries.must_wait("one", 1000 + WrongTries::span_ns)) << "they are counted again";
}

TEST(WrongTries, are_kept_of_so_many_and_no_more) {
  WrongTries tries;
  for (std::size_t i = 0; i < WrongTries::most_kept + 100; ++i) {
    tries.add(std::to_string(i), i);
  }
  EXPECT_EQ(tries.kept(), WrongTries::most_kept);
}

}  // namespace
}  // namespace remora::link
