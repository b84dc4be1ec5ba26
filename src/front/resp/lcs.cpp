// LCS: the longest sequence of bytes that two values have in common, in order but not next to each
// other, and where its pieces lie.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "front/resp/families.h"
#include "front/resp/limits.h"

namespace remora::resp {

using kv::LocalStore;

namespace {

// Bytes next to each other that both values have: where they begin, and how many they are.
struct Piece {
  std::size_t in_first = 0;
  std::size_t in_second = 0;
  std::size_t size = 0;
};

// For every pair of beginnings of the two, how much they have in common.
class Table {
 public:
  static std::uint64_t bytes_for(std::string_view first, std::string_view second) {
    return std::uint64_t{first.size() + 1} * (second.size() + 1) * sizeof(std::uint32_t);
  }

  Table(std::string_view first, std::string_view second)
      : first_(first),
        second_(second),
        width_(second.size() + 1),
        cells_(std::make_unique_for_overwrite<std::uint32_t[]>((first.size() + 1) * width_)) {
    std::uint32_t* row = cells_.get();
    std::fill_n(row, width_, 0);
    for (const char letter : first) {
      const std::uint32_t* const above = row;
      row += width_;
      row[0] = 0;
      for (std::size_t j = 1; j < width_; ++j) {
        row[j] = letter == second[j - 1] ? above[j - 1] + 1 : std::max(above[j], row[j - 1]);
      }
    }
  }

  std::size_t length() const { return at(first_.size(), second_.size()); }

  // The pieces of one longest sequence, the last first. Where there are several such sequences it
  // is the one that Redis finds: of two ways back that lose nothing, the one in the second value.
  std::vector<Piece> pieces() const {
    std::vector<Piece> found;
    Piece piece;
    std::size_t i = first_.size();
    std::size_t j = second_.size();
    const auto end_piece = [&] {
      if (piece.size != 0) {
        found.push_back(piece);
        piece = {};
      }
    };
    while (i > 0 && j > 0) {
      if (first_[i - 1] == second_[j - 1]) {
        piece = {--i, --j, piece.size + 1};
        continue;
      }
      end_piece();
      at(i - 1, j) > at(i, j - 1) ? --i : --j;
    }
    end_piece();
    return found;
  }

 private:
  std::uint32_t at(std::size_t i, std::size_t j) const { return cells_[i * width_ + j]; }

  const std::string_view first_;
  const std::string_view second_;
  const std::size_t width_;
  const std::unique_ptr<std::uint32_t[]> cells_;
};

struct Options {
  bool wants_length = false;
  bool wants_pieces = false;
  bool wants_sizes = false;
  std::int64_t least_size = 0;
};

// Nothing: the reply is written.
std::optional<Options> options_of(Call& call) {
  Options options;
  for (std::size_t i = 3; i < call.args.size(); ++i) {
    const std::string_view word = call.args[i];
    if (is_word(word, "len")) {
      options.wants_length = true;
    } else if (is_word(word, "idx")) {
      options.wants_pieces = true;
    } else if (is_word(word, "withmatchlen")) {
      options.wants_sizes = true;
    } else if (is_word(word, "minmatchlen") && i + 1 < call.args.size()) {
      const std::optional<std::int64_t> least = integer_of(call, call.args[++i]);
      if (!least) {
        return std::nullopt;
      }
      options.least_size = *least;
    } else {
      syntax_error(call);
      return std::nullopt;
    }
  }
  if (options.wants_length && options.wants_pieces) {
    fail(call, "ERR If you want both the length and indexes, please just use IDX.");
    return std::nullopt;
  }
  return options;
}

void reply_range(Output& out, std::size_t first, std::size_t size) {
  out.array(2);
  out.integer(static_cast<std::int64_t>(first));
  out.integer(static_cast<std::int64_t>(first + size - 1));
}

void reply_pieces(Call& call, const Table& table, const Options& options) {
  std::vector<Piece> pieces = table.pieces();
  std::erase_if(pieces, [&](const Piece& piece) {
    return static_cast<std::int64_t>(piece.size) < options.least_size;
  });
  Output& out = call.out;
  out.map(2, call.protocol());
  out.bulk("matches");
  out.array(pieces.size());
  for (const Piece& piece : pieces) {
    out.array(options.wants_sizes ? 3 : 2);
    reply_range(out, piece.in_first, piece.size);
    reply_range(out, piece.in_second, piece.size);
    if (options.wants_sizes) {
      out.integer(static_cast<std::int64_t>(piece.size));
    }
  }
  out.bulk("len");
  out.integer(static_cast<std::int64_t>(table.length()));
}

void reply_sequence(Call& call, const Table& table, std::string_view first) {
  std::string sequence(table.length(), '\0');
  std::size_t end = sequence.size();
  for (const Piece& piece : table.pieces()) {
    end -= piece.size;
    sequence.replace(end, piece.size, first.substr(piece.in_first, piece.size));
  }
  call.out.bulk(sequence);
}

}  // namespace

// The table takes time and room for every pair of bytes, so it is bounded as Redis bounds it: by
// the longest value. That is a few milliseconds, in which nobody else is served.
Done lcs(Call& call) {
  std::string_view values[2];
  for (std::size_t i = 0; i < 2; ++i) {
    const std::optional<LocalStore::Found> found = look_up(call, call.args[i + 1]);
    if (const std::optional<Done> refused = refuse_damaged(call, found)) [[unlikely]] {
      return *refused;
    }
    values[i] = found ? as_text(found->value) : std::string_view();
  }
  const std::optional<Options> options = options_of(call);
  if (!options) {
    return Done::replied;
  }
  if (Table::bytes_for(values[0], values[1]) > std::uint64_t{limits::bulk_bytes}) {
    return fail(call,
                "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len");
  }
  if (const std::optional<Done> refused =
          refuse_search(call, Table::bytes_for(values[0], values[1]))) {
    return *refused;
  }
  const Table table(values[0], values[1]);
  if (options->wants_pieces) {
    reply_pieces(call, table, *options);
  } else if (options->wants_length) {
    call.out.integer(static_cast<std::int64_t>(table.length()));
  } else {
    reply_sequence(call, table, values[0]);
  }
  return Done::replied;
}

}  // namespace remora::resp
