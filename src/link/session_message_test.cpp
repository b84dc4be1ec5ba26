#include "link/session_message.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/crc32c.h"
#include "base/random.h"

namespace remora::link {
namespace {

using session_format::Message;

SessionMessage join_message() {
  return {.kind = SessionKind::join,
          .service = "store",
          .design = "efactory",
          .queue_pair = {.number = 0x123456, .first_packet = 0xabcdef, .gid = {1, 2, 3}}};
}

// A message with one part changed and a checksum that is right.
template <typename Change>
std::vector<std::byte> changed(Change change) {
  const auto bytes = encode(join_message());
  Message message;
  std::memcpy(&message, bytes.data(), sizeof message);
  change(message);
  std::vector<std::byte> out(sizeof message);
  std::memcpy(out.data(), &message, sizeof message);
  message.checksum = crc32c(ConstBytes(out).first(offsetof(Message, checksum)));
  std::memcpy(out.data(), &message, sizeof message);
  return out;
}

TEST(SessionMessage, gives_back_what_was_said) {
  const Result<SessionMessage> message = decode(encode(join_message()));
  ASSERT_TRUE(message.ok());
  EXPECT_EQ(message->kind, SessionKind::join);
  EXPECT_EQ(message->service, "store");
  EXPECT_EQ(message->design, "efactory");
  EXPECT_EQ(message->queue_pair.number, 0x123456u);
  EXPECT_EQ(message->queue_pair.first_packet, 0xabcdefu);
  EXPECT_EQ(message->queue_pair.gid, (fabric::Gid{1, 2, 3}));
}

// The example of docs/formats/session.md.
TEST(SessionMessage, is_what_the_document_says) {
  SessionMessage message = join_message();
  for (std::size_t i = 0; i < message.queue_pair.gid.size(); ++i) {
    message.queue_pair.gid[i] = static_cast<std::uint8_t>(0x10 + i);
  }
  const auto bytes = encode(message);
  const auto at = [&](std::size_t offset) { return static_cast<unsigned>(bytes[offset]); };
  EXPECT_EQ(std::memcmp(bytes.data(), "RMRASESS\x06\0\x03\0\0\0\0\0store\0\0\0", 24), 0);
  EXPECT_EQ(std::memcmp(bytes.data() + 32, "efactory", 9), 0);
  EXPECT_EQ(std::memcmp(bytes.data() + 64, "\x56\x34\x12\0\xef\xcd\xab\0\x10\x11", 10), 0);
  EXPECT_EQ(at(87), 0x1fu);
  EXPECT_EQ(at(88), 0u);
  EXPECT_EQ(at(252), 0x41u);
  EXPECT_EQ(at(253), 0xbcu);
  EXPECT_EQ(at(254), 0x9du);
  EXPECT_EQ(at(255), 0x14u);
}

TEST(SessionMessage, carries_the_reason_of_a_refusal) {
  const Result<SessionMessage> message = decode(
      encode({.kind = SessionKind::refusal, .reason = Status(Code::no_space, "full\nof clients")}));
  ASSERT_TRUE(message.ok());
  EXPECT_EQ(message->reason.code(), Code::no_space);
  EXPECT_EQ(message->reason.message(), "full?of clients");
}

TEST(SessionMessage, cuts_texts_that_are_too_long) {
  const Result<SessionMessage> message =
      decode(encode({.kind = SessionKind::refusal,
                     .service = std::string(100, 's'),
                     .design = std::string(100, 'd'),
                     .reason = Status(Code::closed, std::string(500, 'x'))}));
  ASSERT_TRUE(message.ok());
  EXPECT_EQ(message->service.size(), session_format::service_bytes);
  EXPECT_EQ(message->design.size(), session_format::design_bytes);
  EXPECT_EQ(message->reason.message().size(), session_format::text_bytes);
}

TEST(SessionMessage, carries_roles_nonces_and_proofs) {
  SessionMessage message = join_message();
  message.text = "write";
  message.nonce[15] = 7;
  message.proof[31] = 9;
  EXPECT_EQ(decode(encode(message))->text, "write");
  EXPECT_EQ(decode(encode(message))->nonce, message.nonce);
  EXPECT_EQ(decode(encode(message))->proof, message.proof);
}

TEST(SessionMessage, carries_facts_behind_it) {
  const SessionMessage message{.kind = SessionKind::facts, .facts = "keys 3\npool a b\n"};
  const std::vector<std::byte> bytes = encode(message);
  EXPECT_EQ(decode(bytes)->facts, message.facts);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::vector<std::byte> wrong = bytes;
    wrong[at] ^= std::byte{0x20};
    EXPECT_FALSE(decode(wrong).ok()) << at;
  }
}

TEST(SessionMessage, cuts_facts_behind_a_whole_line) {
  std::string facts;
  while (facts.size() < 5000) {
    facts += "some_name 12345\n";
  }
  const std::vector<std::byte> bytes = encode({.kind = SessionKind::facts, .facts = facts});
  EXPECT_LE(bytes.size(), session_format::frame_bytes);
  EXPECT_EQ(decode(bytes)->facts.size() % 16, 0u);
  EXPECT_GT(decode(bytes)->facts.size(), 3800u);
}

TEST(SessionMessage, tells_another_version_from_nonsense) {
  EXPECT_EQ(decode(changed([](Message& message) { message.version = 9; })).code(),
            Code::unsupported);
  // Whatever else that version may have changed.
  auto bytes = changed([](Message& message) { message.version = 9; });
  bytes.resize(20);
  EXPECT_EQ(decode(bytes).code(), Code::unsupported);
}

TEST(SessionMessage, refuses_what_is_out_of_bounds) {
  EXPECT_TRUE(decode(changed([](Message&) {})).ok());
  const std::vector<std::vector<std::byte>> wrong = {
      changed([](Message& message) { message.magic[0] = 'X'; }),
      changed([](Message& message) { message.kind = 0; }),
      changed([](Message& message) { message.kind = 11; }),
      changed([](Message& message) { message.code = 1; }),
      changed([](Message& message) { message.kind = 5; }),
      changed([](Message& message) { message.kind = 5, message.code = 200; }),
      changed([](Message& message) { message.queue_pair = 1 << 24; }),
      changed([](Message& message) { message.first_packet = 1 << 24; }),
      changed([](Message& message) { message.service[15] = 'x'; }),
      changed([](Message& message) { message.design[31] = 'x'; }),
      changed([](Message& message) { message.design[0] = '\n'; }),
      changed([](Message& message) { message.text[3] = 'x'; }),
      changed([](Message& message) { message.tail_bytes = 1; }),
      changed([](Message& message) { message.tail_checksum = 1; })};
  for (const std::vector<std::byte>& bytes : wrong) {
    EXPECT_EQ(decode(bytes).code(), Code::damaged);
  }
}

TEST(SessionMessage, refuses_every_changed_byte_and_every_other_length) {
  const auto right = encode(join_message());
  for (std::size_t at = 0; at < right.size(); ++at) {
    auto bytes = right;
    bytes[at] ^= std::byte{0x10};
    EXPECT_FALSE(decode(bytes).ok()) << at;
    EXPECT_FALSE(decode(ConstBytes(right).first(at)).ok()) << at;
  }
  std::vector<std::byte> longer = right;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(decode(longer).ok());
}

TEST(SessionMessage, survives_any_bytes) {
  Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> bytes(random.below(300));
    for (std::byte& byte : bytes) {
      byte = static_cast<std::byte>(random.next());
    }
    EXPECT_FALSE(decode(bytes).ok());
    // The same with all that is checked first put right.
    bytes.resize(sizeof(Message));
    Message message;
    std::memcpy(&message, bytes.data(), sizeof message);
    message.magic = session_format::magic;
    message.version = session_format::version;
    message.kind = static_cast<std::uint16_t>(random.below(10));
    message.tail_bytes = 0;
    message.tail_checksum = crc32c({});
    std::memcpy(bytes.data(), &message, sizeof message);
    message.checksum = crc32c(ConstBytes(bytes).first(offsetof(Message, checksum)));
    std::memcpy(bytes.data(), &message, sizeof message);
    if (const Result<SessionMessage> taken = decode(bytes); taken.ok()) {
      const auto again = encode(*taken);
      EXPECT_TRUE(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()));
    }
  }
}

}  // namespace
}  // namespace remora::link
