#include "pmem/pool_format.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/crc32c.h"
#include "pmem/pool_checks.h"

namespace remora {

std::string_view to_string(Account account) {
  constexpr std::array<std::string_view, account_count> names = {"none", "store", "calls", "files",
                                                                 "memory"};
  const auto index = static_cast<std::size_t>(account);
  return index < names.size() ? names[index] : "unknown";
}

Account owner_of_root(std::string_view name) {
  const std::string_view owner = name.substr(0, name.find('/'));
  for (const Account account : {Account::store, Account::calls, Account::files, Account::memory}) {
    if (owner == to_string(account)) {
      return account;
    }
  }
  return Account::none;
}

}  // namespace remora

namespace remora::pool_format {
namespace {

constexpr std::uint32_t roots_per_pool = page_bytes / sizeof(Root);
constexpr std::uint64_t groups_per_summary_word = 64;

// A sixteenth of a small pool, and no more than 256 slots: room for a group of transactions to wait
// for one commit.
std::uint32_t log_slots_for(std::uint64_t size_bytes) {
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(size_bytes / 16 / log_slot_bytes, 16, 256));
}

std::uint64_t summary_bytes_for(std::uint64_t blocks) {
  return round_up(blocks, blocks_per_group * groups_per_summary_word) /
         (blocks_per_group * groups_per_summary_word) * word_bytes;
}

std::string foreign(std::string_view path) {
  return std::string(path) +
         " is not a Remora pool (its first bytes are something else); choose another path, or make "
         "one with: remora pool create";
}

}  // namespace

Header plan(std::uint64_t size_bytes, const Uuid& uuid) {
  Header header{};
  header.magic = magic;
  header.version = version;
  header.segments = 1;
  header.uuid = uuid;
  header.size_bytes = round_down(size_bytes, block_bytes);
  header.root_count = roots_per_pool;
  header.log_slot_count = log_slots_for(size_bytes);
  header.roots = page_bytes;
  header.log_control = header.roots + page_bytes;
  header.log_slots = header.log_control + log_slot_bytes;
  header.summary = round_up(header.log_slots + header.log_slot_count * log_slot_bytes, page_bytes);
  const BlockPlan blocks = plan_blocks(header.summary, header.size_bytes);
  header.table = blocks.table;
  header.blocks = blocks.blocks;
  header.block_count = blocks.block_count;
  header.checksum = checksum_of(header);
  return header;
}

// As many blocks as fit together with their own table entries; the first guess is a little high.
BlockPlan plan_blocks(Offset summary, Offset end) {
  BlockPlan plan;
  plan.block_count = (end - summary) / (block_bytes + sizeof(BlockEntry));
  for (;; --plan.block_count) {
    plan.table = round_up(summary + summary_bytes_for(plan.block_count), page_bytes);
    plan.blocks = round_up(plan.table + plan.block_count * sizeof(BlockEntry), block_bytes);
    if (plan.blocks + plan.block_count * block_bytes <= end) {
      return plan;
    }
  }
}

std::uint32_t checksum_of(const Header& header) {
  Header first = header;
  first.version = oldest_version;
  first.segments = 1;
  return crc32c(object_bytes(first).first(offsetof(Header, checksum)));
}

std::uint32_t checksum_of(const Extension& extension) {
  return crc32c(object_bytes(extension).first(offsetof(Extension, checksum)));
}

// The number of pieces, and above it the two halves of its CRC-32C, added without carry.
std::uint32_t segments_word(std::size_t extensions) {
  const auto pieces = static_cast<std::uint32_t>(extensions + 1);
  const std::uint32_t crc = crc32c(object_bytes(pieces));
  return pieces | (crc ^ crc >> 16) << 16;
}

std::optional<std::size_t> extensions_of(const Header& header) {
  if (header.version != grown_version) {
    return header.segments == 1 ? std::optional<std::size_t>(0) : std::nullopt;
  }
  const std::size_t extensions = (header.segments & 0xffff) - std::size_t{1};
  const bool sound = extensions != 0 && extensions <= most_extensions &&
                     header.segments == segments_word(extensions);
  return sound ? std::optional(extensions) : std::nullopt;
}

Status verify(const Header& header, std::uint64_t file_bytes, std::string_view path) {
  const std::string name(path);
  if (header.magic != magic) {
    const bool blank = header.magic == std::array<char, 8>{};
    return blank
               ? Status(Code::damaged,
                        name +
                            " does not begin like a pool but with zeros: either its "
                            "creation was interrupted, then remove it and create it again; or its "
                            "start was overwritten, then restore it from a backup")
               : Status(Code::invalid_argument, foreign(path));
  }
  if (header.version < oldest_version || header.version > grown_version) {
    return Status(Code::unsupported,
                  name + " is a pool of format version " + std::to_string(header.version) +
                      ", and this program reads versions " + std::to_string(oldest_version) +
                      " to " + std::to_string(grown_version) +
                      "; open it with a matching release of Remora");
  }
  if (header.checksum != checksum_of(header)) {
    return Status(Code::damaged, name + " has a damaged header (its checksum is wrong)" + remedy);
  }
  if (!extensions_of(header)) {
    return Status(Code::damaged,
                  name + " has a damaged header (how often it was grown is unknown)" + remedy);
  }
  // The checksum vouches for the writer; a plan that differs comes from a hand that forged it.
  Header expected =
      plan(std::clamp(header.size_bytes, smallest_pool_bytes, largest_pool_bytes), header.uuid);
  expected.version = header.version;
  expected.segments = header.segments;
  if (!std::ranges::equal(object_bytes(expected), object_bytes(header))) {
    return Status(Code::damaged,
                  name + " has a header that describes no layout of this version" + remedy);
  }
  if (file_bytes < header.size_bytes) {
    return Status(Code::damaged, name + " is truncated: it has " + std::to_string(file_bytes) +
                                     " bytes and its header says " +
                                     std::to_string(header.size_bytes) + remedy);
  }
  return Status();
}

}  // namespace remora::pool_format
