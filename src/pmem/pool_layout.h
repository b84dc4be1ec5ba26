// PoolLayout: where everything lies in a pool. A pool is created in one piece, which its header
// describes. Each growth adds a piece behind the end, with a summary, a table and blocks of its
// own, so that nothing moves:
//
//   header ... summary | table | blocks || summary | table | blocks || ...
//
// Blocks are counted from block 0 on by their places alone, over all pieces. The pages of summaries
// and tables in between have numbers too, and are nobody's.
//
// A value; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "pmem/pool_format.h"

namespace remora {

// A piece of the pool, whose blocks have neighbouring numbers.
struct PoolPiece {
  std::uint64_t first_block = 0;
  std::uint64_t block_count = 0;
  Offset summary = 0;
  Offset table = 0;
  // Words of all summaries, one behind the other.
  std::uint64_t first_word = 0;
  std::uint64_t word_count = 0;

  std::uint64_t end_block() const { return first_block + block_count; }
};

class PoolLayout {
 public:
  // Of a pool in one piece. Implicit, since that is what a header describes.
  PoolLayout(const pool_format::Header& header);  // NOLINT(google-explicit-constructor)

  // What the first page of a file says, for a file of `file_bytes`; or why this program cannot
  // serve it. `path` is for the message.
  static Result<PoolLayout> read(ConstBytes first_page, std::uint64_t file_bytes,
                                 std::string_view path);
  // Called to save what is whole: replaces the damaged parts of the first page by a guess. If no
  // part tells the size any more, the file's length is taken.
  static PoolLayout guess(ConstBytes first_page, std::uint64_t file_bytes);

  // The same pool, grown to that size, rounded down to whole blocks. Or why it cannot be.
  Result<PoolLayout> grown_to(std::uint64_t size_bytes) const;

  const pool_format::Header& header() const { return header_; }
  std::span<const pool_format::Extension> extensions() const { return extensions_; }
  std::span<const PoolPiece> pieces() const { return pieces_; }
  std::uint64_t size_bytes() const {
    return extensions_.empty() ? header_.size_bytes : extensions_.back().end;
  }

  Offset place_of(std::uint64_t block) const {
    return header_.blocks + block * pool_format::block_bytes;
  }
  // Requires a place in the blocks.
  std::uint64_t block_at(Offset place) const {
    return (place - header_.blocks) / pool_format::block_bytes;
  }
  // Requires a block of a piece, in all three.
  const PoolPiece& piece_of(std::uint64_t block) const;
  Offset entry_of(std::uint64_t block) const;
  std::uint64_t group_of(std::uint64_t block) const;
  std::uint64_t summary_words() const {
    return pieces_.back().first_word + pieces_.back().word_count;
  }
  // Of the word with that number among all summaries.
  Offset summary_place(std::uint64_t word) const;
  // Whether the place lies in a summary, or in a summary or a table.
  bool is_summary(Offset place) const;
  bool is_structure(Offset place) const;

 private:
  void add(const pool_format::Extension& extension);

  pool_format::Header header_;
  std::vector<pool_format::Extension> extensions_;
  std::vector<PoolPiece> pieces_;
};

}  // namespace remora
