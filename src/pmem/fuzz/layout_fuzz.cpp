#include <algorithm>
#include <array>
#include <cstring>

#include "base/check.h"
#include "pmem/fuzz/pmem_fuzz.h"
#include "pmem/pool_layout.h"

namespace remora {

namespace layout_fuzz {

using FirstPage = std::array<std::byte, page_bytes>;
using pool_format::Extension;
using pool_format::Header;

// What a fuzzer would not find by itself.
enum Repair : std::uint8_t { header_checksum = 1, layout = 2, segments = 4, extensions = 8 };

template <typename T>
T at(const FirstPage& page, Offset place) {
  T value;
  std::memcpy(&value, page.data() + place, sizeof value);
  return value;
}

void repair(FirstPage& page, std::uint8_t what) {
  auto header = at<Header>(page, 0);
  if ((what & layout) != 0) {
    const std::uint64_t size = std::clamp(header.size_bytes, pool_format::smallest_pool_bytes,
                                          pool_format::largest_pool_bytes);
    const Header found = header;
    header = pool_format::plan(size, found.uuid);
    header.version = found.version;
    header.segments = found.segments;
  }
  if ((what & segments) != 0) {
    header.segments = pool_format::segments_word(header.segments % 128);
  }
  if ((what & header_checksum) != 0) {
    header.checksum = checksum_of(header);
  }
  std::memcpy(page.data(), &header, sizeof header);
  for (std::size_t i = 0; (what & extensions) != 0 && i < pool_format::most_extensions; ++i) {
    auto extension = at<Extension>(page, pool_format::extension_place(i));
    extension.checksum = checksum_of(extension);
    std::memcpy(page.data() + pool_format::extension_place(i), &extension, sizeof extension);
  }
}

// Every place lies in the file, behind the one before.
void check(const PoolLayout& layout, std::uint64_t file_bytes) {
  REMORA_CHECK(layout.size_bytes() <= file_bytes, "a pool is longer than its file");
  Offset end = layout.header().log_slots;
  for (const PoolPiece& piece : layout.pieces()) {
    const Offset blocks = layout.place_of(piece.first_block);
    REMORA_CHECK(piece.summary >= end && piece.table >= piece.summary && blocks >= piece.table,
                 "parts of a pool overlap");
    REMORA_CHECK(layout.piece_of(piece.end_block() - 1).first_block == piece.first_block,
                 "a block is of another piece");
    REMORA_CHECK(layout.entry_of(piece.end_block() - 1) + sizeof(pool_format::BlockEntry) <= blocks,
                 "an entry lies in the blocks");
    end = layout.place_of(piece.end_block());
  }
  REMORA_CHECK(end <= layout.size_bytes(), "a block lies behind the end");
}

// A pool that was grown is read with all its pieces.
void grow(const PoolLayout& layout, FirstPage page) {
  const Result<PoolLayout> grown = layout.grown_to(layout.size_bytes() + (1 << 20));
  if (!grown.ok() || layout.header().version == pool_format::oldest_version) {
    return;
  }
  const std::size_t index = layout.extensions().size();
  std::memcpy(page.data(), &grown->header(), sizeof(Header));
  std::memcpy(page.data() + pool_format::extension_place(index), &grown->extensions()[index],
              sizeof(Extension));
  const Result<PoolLayout> read = PoolLayout::read(page, grown->size_bytes(), "p");
  REMORA_CHECK(read.ok() && read->size_bytes() == grown->size_bytes(), "a growth is not read back");
}

}  // namespace layout_fuzz

int fuzz_layout(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t begin = 1 + sizeof(std::uint64_t);
  if (size < begin) {
    return 0;
  }
  std::uint64_t file_bytes = 0;
  std::memcpy(&file_bytes, data + 1, sizeof file_bytes);
  layout_fuzz::FirstPage page{};
  std::memcpy(page.data(), data + begin, std::min(size - begin, page.size()));
  layout_fuzz::repair(page, data[0]);
  const Result<PoolLayout> layout = PoolLayout::read(page, file_bytes, "p");
  if (layout.ok()) {
    layout_fuzz::check(*layout, file_bytes);
    layout_fuzz::grow(*layout, page);
  }
  if (file_bytes >= pool_format::smallest_pool_bytes) {
    layout_fuzz::check(PoolLayout::guess(page, file_bytes), file_bytes);
  }
  return 0;
}

}  // namespace remora

#ifdef REMORA_FUZZER
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return remora::fuzz_layout(data, size);
}
#endif
