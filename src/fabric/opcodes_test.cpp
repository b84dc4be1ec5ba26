#include "fabric/opcodes.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "fabric/posting.h"

namespace remora::fabric {
namespace {

const char* why_not(Opcode opcode, Transport transport) {
  std::array<std::byte, word_bytes> word{};
  const Sge piece = {word.data(), word_bytes, 1};
  const bool has_row = static_cast<std::size_t>(opcode) < opcode_rows.size();
  const std::span<const Sge> pieces(&piece, has_row && is_flush(opcode) ? 0 : 1);
  return why_not_post({.opcode = opcode, .pieces = pieces}, {.transport = transport});
}

TEST(Opcodes, have_names_of_their_own) {
  std::set<std::string_view> names;
  for (const OpcodeRow& row : opcode_rows) {
    EXPECT_EQ(to_string(row.opcode), row.name);
    names.insert(row.name);
  }
  EXPECT_EQ(names.size(), opcode_rows.size());
}

TEST(Opcodes, that_are_answered_need_a_reliable_connection) {
  for (const OpcodeRow& row : opcode_rows) {
    if (is_answered(row.opcode)) {
      EXPECT_EQ(row.transports, carried_by(Transport::rc)) << row.name;
    }
  }
}

TEST(Opcodes, are_posted_where_their_transport_carries_them) {
  for (const OpcodeRow& row : opcode_rows) {
    EXPECT_EQ(why_not(row.opcode, Transport::rc) == nullptr, row.is_posted) << row.name;
  }
  EXPECT_EQ(why_not(Opcode::write, Transport::uc), nullptr);
  EXPECT_NE(why_not(Opcode::read, Transport::uc), nullptr);
  EXPECT_EQ(why_not(Opcode::send, Transport::ud), nullptr);
  EXPECT_NE(why_not(Opcode::write, Transport::ud), nullptr);
}

TEST(Opcodes, without_a_row_are_not_posted) {
  EXPECT_NE(why_not(static_cast<Opcode>(opcode_rows.size()), Transport::rc), nullptr);
  EXPECT_NE(why_not(static_cast<Opcode>(255), Transport::rc), nullptr);
  EXPECT_EQ(to_string(static_cast<Opcode>(255)), "unknown");
}

TEST(Opcodes, are_sorted_by_what_their_rows_say) {
  EXPECT_TRUE(carries_message(Opcode::write_imm));
  EXPECT_FALSE(carries_message(Opcode::atomic_write));
  EXPECT_TRUE(may_span_packets(Opcode::read));
  EXPECT_FALSE(may_span_packets(Opcode::compare_swap));
  EXPECT_TRUE(brings_bytes(Opcode::fetch_add));
  EXPECT_FALSE(brings_bytes(Opcode::flush));
  EXPECT_TRUE(is_answered(Opcode::flush));
  EXPECT_FALSE(is_answered(Opcode::send));
  EXPECT_TRUE(changes_word(Opcode::atomic_write));
  EXPECT_FALSE(is_atomic(Opcode::atomic_write));
  EXPECT_TRUE(brings_bytes(Opcode::sflush));
  EXPECT_FALSE(is_atomic(Opcode::sflush));
  EXPECT_TRUE(is_flush(Opcode::flush_payload));
  EXPECT_FALSE(is_flush(Opcode::sflush));
  EXPECT_TRUE(is_vendor(Opcode::flush_imm));
  EXPECT_FALSE(is_vendor(Opcode::flush));
  EXPECT_TRUE(names_memory(Opcode::flush));
  EXPECT_FALSE(names_memory(Opcode::send_imm));
}

}  // namespace
}  // namespace remora::fabric
