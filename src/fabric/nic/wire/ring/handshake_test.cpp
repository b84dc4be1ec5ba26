#include "fabric/nic/wire/ring/handshake.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace remora::fabric::nic::ring {
namespace {

constexpr Gid own = {1, 2, 3};
constexpr Gid other = {9, 8, 7};
constexpr RingShape spoken_shape = {.ring_bytes = 65536, .mtu_bytes = 4096};

HandshakeMessage hello() {
  return {.kind = HandshakeKind::hello, .gid = other, .shape = spoken_shape};
}

HandshakeMessage refusal(std::string text) {
  return {.kind = HandshakeKind::refusal,
          .gid = other,
          .shape = spoken_shape,
          .code = Code::no_space,
          .text = std::move(text)};
}

Status judge(const HandshakeMessage& message) {
  return judge_hello(message, own, spoken_shape.mtu_bytes, limits::ring_bytes_max);
}

TEST(Handshake, gives_back_what_was_encoded) {
  const Result<HandshakeMessage> parsed = parse_handshake(encode(hello()).view());
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_EQ(parsed->kind, HandshakeKind::hello);
  EXPECT_EQ(parsed->gid, other);
  EXPECT_EQ(parsed->shape, spoken_shape);
}

TEST(Handshake, carries_the_reason_of_a_refusal) {
  const Result<HandshakeMessage> parsed = parse_handshake(encode(refusal("full")).view());
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  const Status verdict = judge_answer(*parsed, own, spoken_shape);
  EXPECT_EQ(verdict.code(), Code::no_space);
  EXPECT_EQ(verdict.message(), "the listener refused the link: full");
}

TEST(Handshake, cuts_a_reason_that_is_too_long_and_makes_it_harmless) {
  const Result<HandshakeMessage> parsed =
      parse_handshake(encode(refusal("\x1b[2J" + std::string(500, 'x'))).view());
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->text.size(), limits::refusal_text_bytes);
  EXPECT_EQ(parsed->text.substr(0, 5), "?[2Jx");
}

TEST(Handshake, refuses_every_damaged_byte) {
  for (const HandshakeMessage& message : {hello(), refusal("because")}) {
    EncodedHandshake encoded = encode(message);
    for (std::size_t i = 0; i < encoded.size_bytes; ++i) {
      encoded.bytes[i] ^= std::byte{0x10};
      EXPECT_FALSE(parse_handshake(encoded.view()).ok()) << i;
      encoded.bytes[i] ^= std::byte{0x10};
    }
    EXPECT_TRUE(parse_handshake(encoded.view()).ok());
  }
}

TEST(Handshake, refuses_every_other_length) {
  EncodedHandshake encoded = encode(hello());
  for (std::size_t size = 0; size <= handshake_bytes_max; ++size) {
    EXPECT_EQ(parse_handshake(ConstBytes(encoded.bytes).first(size)).ok(),
              size == handshake_head_bytes);
  }
  EXPECT_EQ(parse_handshake(std::vector<std::byte>(10'000)).code(), Code::damaged);
}

TEST(Handshake, names_the_version_that_it_refuses) {
  EncodedHandshake encoded = encode(hello());
  encoded.bytes[8] = std::byte{handshake_version + 1};
  const Result<HandshakeMessage> parsed = parse_handshake(encoded.view());
  EXPECT_EQ(parsed.code(), Code::unsupported);
  EXPECT_NE(parsed.status().message().find("version " + std::to_string(handshake_version + 1)),
            std::string::npos);
}

// Whose word at 56 was 0, and whose verbs nobody agreed on.
TEST(Handshake, refuses_the_version_before_by_its_number) {
  EncodedHandshake encoded = encode(hello());
  encoded.bytes[8] = std::byte{4};
  encoded.bytes[56] = std::byte{0};
  const Result<HandshakeMessage> parsed = parse_handshake(encoded.view());
  EXPECT_EQ(parsed.code(), Code::unsupported);
  EXPECT_NE(parsed.status().message().find("version 4"), std::string::npos);
}

TEST(Handshake, tells_what_a_flush_is_worth_and_which_verbs_there_are) {
  HandshakeMessage message = hello();
  message.flush_worth = FlushWorth::pushed;
  message.features = feature_side | features_of(vendor_verb(DurableVerb::sflush));
  const Result<HandshakeMessage> parsed = parse_handshake(encode(message).view());
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->flush_worth, FlushWorth::pushed);
  EXPECT_EQ(verbs_of(parsed->features), vendor_verb(DurableVerb::sflush));
}

TEST(Handshake, welcomes_a_hello_that_it_can_serve) {
  EXPECT_TRUE(judge(hello()).ok());
}

TEST(Handshake, refuses_a_hello_that_it_cannot_serve) {
  HandshakeMessage message = hello();
  message.shape.mtu_bytes = 1024;
  EXPECT_EQ(judge(message).code(), Code::unsupported);
  message = hello();
  message.gid = own;
  EXPECT_EQ(judge(message).code(), Code::invalid_argument);
  message = hello();
  message.kind = HandshakeKind::welcome;
  EXPECT_EQ(judge(message).code(), Code::damaged);
  EXPECT_EQ(judge_hello(hello(), own, spoken_shape.mtu_bytes, 32768).code(), Code::no_space);
}

TEST(Handshake, refuses_rings_that_cannot_be) {
  for (const RingShape bad :
       {RingShape{0, 4096}, RingShape{65535, 4096}, RingShape{1u << 31, 4096}, RingShape{2048, 256},
        RingShape{65536, 0}, RingShape{65536, 255}, RingShape{65536, 32768}, RingShape{65536, ~0u},
        RingShape{~0u, ~0u}}) {
    EXPECT_EQ(check_shape(bad).code(), Code::invalid_argument)
        << bad.ring_bytes << " " << bad.mtu_bytes;
  }
  EXPECT_TRUE(check_shape(RingShape()).ok());
  EXPECT_TRUE(check_shape({limits::ring_bytes_min, limits::mtu_bytes_min}).ok());
}

TEST(Handshake, takes_no_answer_to_another_question) {
  HandshakeMessage answer = hello();
  EXPECT_EQ(judge_answer(answer, own, spoken_shape).code(), Code::damaged);
  answer.kind = HandshakeKind::welcome;
  EXPECT_TRUE(judge_answer(answer, own, spoken_shape).ok());
  EXPECT_EQ(judge_answer(answer, other, spoken_shape).code(), Code::invalid_argument);
  answer.shape.ring_bytes *= 2;
  EXPECT_EQ(judge_answer(answer, own, spoken_shape).code(), Code::damaged);
  answer = hello();
  answer.kind = HandshakeKind::welcome;
  answer.features = 1;
  EXPECT_EQ(judge_answer(answer, own, spoken_shape).code(), Code::damaged);
}

TEST(Frame, tells_control_messages_from_bells) {
  const std::vector<std::byte> control = {std::byte{1}, std::byte{'h'}, std::byte{'i'}};
  const Result<Frame> parsed = parse_frame(control);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(as_text(parsed->payload), "hi");
  EXPECT_TRUE(parse_frame(std::vector{std::byte{2}}).ok());
}

// docs/formats/ring.md shows a hello: it must be the one that the code makes.
TEST(HandshakeFormat, the_example_in_the_document_is_true) {
  HandshakeMessage message{.kind = HandshakeKind::hello,
                           .shape = {.ring_bytes = 1 << 20, .mtu_bytes = 16 << 10},
                           .features = features_of(all_vendor_verbs)};
  for (std::size_t i = 0; i < message.gid.size(); ++i) {
    message.gid[i] = static_cast<std::uint8_t>(0x10 + i);
  }
  const EncodedHandshake encoded = encode(message);
  std::string dump;
  for (std::size_t i = 0; i < encoded.size_bytes; ++i) {
    dump += i % 16 == 0 ? fmt::format("{:04x} ", i) : "";
    dump += fmt::format(" {:02x}{}", std::to_integer<unsigned>(encoded.bytes[i]),
                        i % 16 == 15 ? "\n" : "");
  }
  std::ifstream file(REMORA_SOURCE "/docs/formats/ring.md");
  const std::string document{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(document.find(dump), std::string::npos) << dump;
}

TEST(Frame, refuses_anything_else) {
  EXPECT_FALSE(parse_frame({}).ok());
  EXPECT_FALSE(parse_frame(std::vector{std::byte{0}}).ok());
  EXPECT_FALSE(parse_frame(std::vector{std::byte{2}, std::byte{0}}).ok());
  EXPECT_FALSE(parse_frame(std::vector{std::byte{5}}).ok());
  EXPECT_FALSE(parse_frame(std::vector<std::byte>(frame_bytes_max + 1, std::byte{1})).ok());
}

}  // namespace
}  // namespace remora::fabric::nic::ring
