#include "pmem/pool_layout.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>

#include "base/check.h"
#include "base/size_text.h"
#include "pmem/pool_checks.h"

namespace remora {

using pool_format::block_bytes;
using pool_format::BlockEntry;
using pool_format::blocks_per_group;
using pool_format::Extension;
using pool_format::Header;

namespace {

Extension extension_at(ConstBytes first_page, std::size_t index) {
  Extension extension;
  std::memcpy(&extension, first_page.data() + pool_format::extension_place(index),
              sizeof extension);
  return extension;
}

// Whether it is one that was written there; where the pool ended before is the caller's to know.
bool is_whole(const Extension& extension, std::size_t index) {
  return extension.number == index + 1 && extension.checksum == checksum_of(extension) &&
         extension.reserved == 0 && extension.begin % block_bytes == 0 &&
         extension.end % block_bytes == 0 && extension.begin < extension.end &&
         extension.end <= pool_format::largest_pool_bytes &&
         extension.end - extension.begin >= pool_format::smallest_growth_bytes;
}

Extension make_extension(Offset begin, Offset end, std::size_t index) {
  Extension extension{begin, end, 0, static_cast<std::uint32_t>(index + 1), 0};
  extension.checksum = checksum_of(extension);
  return extension;
}

Header header_in(ConstBytes first_page) {
  Header header;
  std::memcpy(&header, first_page.data(), sizeof header);
  return header;
}

std::string truncated(std::string_view path, std::uint64_t file_bytes, std::uint64_t size_bytes) {
  return std::string(path) + " is truncated: it has " + std::to_string(file_bytes) +
         " bytes and its pool " + std::to_string(size_bytes) + pool_format::remedy;
}

}  // namespace

PoolLayout::PoolLayout(const Header& header) : header_(header) {
  pieces_.push_back({.first_block = 0,
                     .block_count = header.block_count,
                     .summary = header.summary,
                     .table = header.table,
                     .first_word = 0,
                     .word_count = (header.table - header.summary) / word_bytes});
}

void PoolLayout::add(const Extension& extension) {
  const pool_format::BlockPlan plan = pool_format::plan_blocks(extension.begin, extension.end);
  pieces_.push_back({.first_block = block_at(plan.blocks),
                     .block_count = plan.block_count,
                     .summary = extension.begin,
                     .table = plan.table,
                     .first_word = summary_words(),
                     .word_count = (plan.table - extension.begin) / word_bytes});
  extensions_.push_back(extension);
}

Result<PoolLayout> PoolLayout::read(ConstBytes first_page, std::uint64_t file_bytes,
                                    std::string_view path) {
  const Header header = header_in(first_page);
  REMORA_TRY(pool_format::verify(header, file_bytes, path));
  PoolLayout layout(header);
  for (std::size_t i = 0; i < *extensions_of(header); ++i) {
    const Extension extension = extension_at(first_page, i);
    if (!is_whole(extension, i) || extension.begin != layout.size_bytes()) {
      return Status(Code::damaged, std::string(path) + " has a damaged header (extension " +
                                       std::to_string(i + 1) + " fails its checks)" +
                                       pool_format::remedy);
    }
    layout.add(extension);
  }
  if (file_bytes < layout.size_bytes()) {
    return Status(Code::damaged, truncated(path, file_bytes, layout.size_bytes()));
  }
  return layout;
}

// Of an extension that is damaged, its neighbours tell where it begins and ends. What a growth that
// was cut has left there still tells where the first piece ends.
PoolLayout PoolLayout::guess(ConstBytes first_page, std::uint64_t file_bytes) {
  const Header found = header_in(first_page);
  const bool is_header = found.checksum == checksum_of(found);
  std::array<std::optional<Extension>, pool_format::most_extensions> whole;
  std::size_t newest = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const Extension extension = extension_at(first_page, i);
    if (is_whole(extension, i) && extension.begin >= pool_format::smallest_pool_bytes) {
      whole[i] = extension;
      newest = extension.end <= file_bytes ? i + 1 : newest;
    }
  }
  const std::uint64_t created = is_header  ? found.size_bytes
                                : whole[0] ? whole[0]->begin
                                           : file_bytes;
  const std::uint64_t most = std::min(file_bytes, pool_format::largest_pool_bytes);
  Header header =
      pool_format::plan(std::clamp(created, pool_format::smallest_pool_bytes, most), found.uuid);
  header.version =
      found.version == pool_format::oldest_version ? found.version : pool_format::version;
  PoolLayout layout(header);
  const std::size_t count = extensions_of(found).value_or(newest);
  for (std::size_t i = 0; i < count; ++i) {
    const Offset begin = layout.size_bytes();
    const Offset next =
        i + 1 < count && whole[i + 1] ? whole[i + 1]->begin : round_down(file_bytes, block_bytes);
    const Offset end = whole[i] && whole[i]->begin == begin ? whole[i]->end : next;
    if (!within(begin, pool_format::smallest_growth_bytes, std::min(end, file_bytes))) {
      break;
    }
    layout.add(make_extension(begin, std::min(end, round_down(file_bytes, block_bytes)), i));
  }
  if (!layout.extensions_.empty()) {
    layout.header_.version = pool_format::grown_version;
    layout.header_.segments = pool_format::segments_word(layout.extensions_.size());
  }
  return layout;
}

Result<PoolLayout> PoolLayout::grown_to(std::uint64_t size_bytes) const {
  const std::uint64_t end = round_down(size_bytes, block_bytes);
  const std::uint64_t now = this->size_bytes();
  if (end <= now) {
    return Status(Code::invalid_argument,
                  "the pool has " + format_size(now) +
                      (end == now ? " already" : ", and cannot become smaller") +
                      "; choose a larger size");
  }
  if (end > pool_format::largest_pool_bytes) {
    return Status(Code::invalid_argument, "a pool has at most " +
                                              format_size(pool_format::largest_pool_bytes) +
                                              "; choose a smaller size");
  }
  if (end - now < pool_format::smallest_growth_bytes) {
    return Status(Code::invalid_argument,
                  "a pool grows by " + format_size(pool_format::smallest_growth_bytes) +
                      " or more; choose " + format_size(now + pool_format::smallest_growth_bytes));
  }
  if (extensions_.size() == pool_format::most_extensions) {
    return Status(Code::unsupported,
                  "the pool was grown " + std::to_string(extensions_.size()) +
                      " times, which is the most; copy its store to a pool of its own: serve it, "
                      "and use 'remora backup TO --size'");
  }
  PoolLayout grown = *this;
  grown.add(make_extension(now, end, extensions_.size()));
  grown.header_.version = pool_format::grown_version;
  grown.header_.segments = pool_format::segments_word(grown.extensions_.size());
  return grown;
}

const PoolPiece& PoolLayout::piece_of(std::uint64_t block) const {
  std::size_t index = pieces_.size() - 1;
  while (index != 0 && block < pieces_[index].first_block) {
    --index;
  }
  return pieces_[index];
}

Offset PoolLayout::entry_of(std::uint64_t block) const {
  const PoolPiece& piece = piece_of(block);
  return piece.table + (block - piece.first_block) * sizeof(BlockEntry);
}

std::uint64_t PoolLayout::group_of(std::uint64_t block) const {
  const PoolPiece& piece = piece_of(block);
  return piece.first_word * 64 + (block - piece.first_block) / blocks_per_group;
}

Offset PoolLayout::summary_place(std::uint64_t word) const {
  for (const PoolPiece& piece : pieces_) {
    if (word < piece.first_word + piece.word_count) {
      return piece.summary + (word - piece.first_word) * word_bytes;
    }
  }
  REMORA_CHECK(false, "asked for a word that no summary has");
  return 0;
}

bool PoolLayout::is_summary(Offset place) const {
  return std::ranges::any_of(pieces_, [place](const PoolPiece& piece) {
    return place >= piece.summary && place < piece.table;
  });
}

bool PoolLayout::is_structure(Offset place) const {
  return std::ranges::any_of(pieces_, [this, place](const PoolPiece& piece) {
    return place >= piece.summary && place < place_of(piece.first_block);
  });
}

}  // namespace remora
