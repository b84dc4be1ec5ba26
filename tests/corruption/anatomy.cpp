#include "tests/corruption/anatomy.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "kv/log/object_format.h"
#include "kv/log/store_format.h"
#include "pmem/open_region.h"
#include "pmem/pool.h"

namespace remora::corruption {
namespace {

using kv::object_format::Header;
using kv::store_format::Slot;

// A store of a version without marks: all of it counts as before them.
constexpr std::uint32_t first_version_with_marks = 3;

struct Found {
  Offset offset = 0;
  Header header{};
  std::string key;
  bool behind_mark = false;
};

class Dissection {
 public:
  explicit Dissection(ConstBytes image) : region_(make_dram(image.size()).value()) {
    std::ranges::copy(image, region_->data());
    pool_ = Pool::open(*region_, "the base image").value();
  }

  Anatomy take() {
    take_pool();
    take_store();
    take_objects();
    take_rival();
    std::ranges::sort(anatomy_.extents, {}, &Extent::begin);
    take_the_rest();
    return std::move(anatomy_);
  }

 private:
  void add(Structure structure, Offset begin, Offset end) {
    if (begin < end) {
      anatomy_.extents.push_back({structure, begin, end});
    }
  }

  void take_pool() {
    const pool_format::Header& header = pool_->header();
    add(Structure::pool_header, 0, sizeof header);
    add(Structure::roots, header.roots,
        header.roots + header.root_count * sizeof(pool_format::Root));
    add(Structure::log_control, header.log_control, header.log_control + 128);
    add(Structure::redo_log, header.log_slots,
        header.log_slots + header.log_slot_count * pool_format::log_slot_bytes);
    add(Structure::extensions, pool_format::extension_place(0),
        pool_format::extension_place(pool_->layout().extensions().size()));
    for (const PoolPiece& piece : pool_->layout().pieces()) {
      add(Structure::summary, piece.summary, piece.table);
      add(Structure::block_table, piece.table,
          piece.table + piece.block_count * sizeof(pool_format::BlockEntry));
    }
  }

  void take_store() {
    const Offset superblock = pool_->root(kv::store_format::root_name).value();
    kv::store_format::Head head;
    std::memcpy(&head, region_->data() + superblock, sizeof head);
    const Offset slots = superblock + kv::store_format::slots_begin;
    add(Structure::store_head, superblock, superblock + sizeof head);
    add(Structure::store_marks, superblock + kv::store_format::marks_begin, slots);
    add(Structure::store_slots, slots, slots + head.slot_count * sizeof(Slot));
    const std::uint64_t first_live = pool_->load(superblock + kv::store_format::marks_begin);
    for (std::uint32_t i = 0; i < head.slot_count; ++i) {
      const Offset place = kv::store_format::slot_place(superblock, i);
      const std::uint64_t number = pool_->load(place);
      const Offset segment = pool_->load(place + offsetof(Slot, offset));
      if (number != 0 && pool_->load(place + offsetof(Slot, data_pool)) >= first_live) {
        const std::uint64_t mark = head.version < first_version_with_marks
                                       ? UINT64_MAX
                                       : pool_->load(place + 3 * sizeof(std::uint64_t));
        take_segment(number, segment, mark);
      }
    }
  }

  void take_segment(std::uint64_t number, Offset begin, std::uint64_t mark) {
    const std::uint64_t capacity = pool_->object(begin).size();
    std::uint64_t end = 0;
    while (capacity - end >= sizeof(Header)) {
      Found found;
      found.offset = begin + end;
      std::memcpy(&found.header, region_->data() + found.offset, sizeof(Header));
      if (found.header.segment != number ||
          !kv::object_format::plausible(found.header, capacity - end)) {
        break;
      }
      const ConstBytes key(region_->data() + found.offset + sizeof(Header), found.header.key_bytes);
      if (kv::object_format::header_checksum(found.header, key) != found.header.header_checksum) {
        break;
      }
      found.key = std::string(as_text(key));
      end += kv::object_format::size_bytes(found.header.key_bytes, found.header.value_bytes);
      found.behind_mark = end > mark;
      remember(found);
      objects_.push_back(std::move(found));
    }
    add(Structure::segment_tail, begin + end, begin + capacity);
  }

  // A version whose value never came, or was given up, is not one.
  bool counts(const Found& found) const {
    const Header& header = found.header;
    if (kv::object_format::kind_of(header) == kv::Kind::tombstone) {
      return true;
    }
    const ConstBytes key(region_->data() + found.offset + sizeof(Header), header.key_bytes);
    const ConstBytes value(
        region_->data() + found.offset + kv::object_format::value_begin(header.key_bytes),
        header.value_bytes);
    return header.checksum ==
           kv::object_format::object_checksum(
               header.sequence, kv::object_format::client_checksum(key, value), header.expires);
  }

  void remember(const Found& found) {
    const Newest newest{found.offset, found.header.sequence,
                        kv::object_format::kind_of(found.header) == kv::Kind::tombstone,
                        found.behind_mark};
    const auto [known, is_new] = anatomy_.newest.try_emplace(found.key, newest);
    if (!counts(found)) {
      // Whoever damages what comes after it may not learn that it never came.
      known->second.behind_mark = known->second.behind_mark || (is_new && found.behind_mark);
    } else if (!is_new && known->second.sequence <= newest.sequence) {
      known->second = newest;
    }
  }

  void take_objects() {
    for (const Found& found : objects_) {
      const std::uint64_t value =
          found.offset + kv::object_format::value_begin(found.header.key_bytes);
      const std::uint64_t end =
          found.offset +
          kv::object_format::size_bytes(found.header.key_bytes, found.header.value_bytes);
      if (anatomy_.newest.at(found.key).offset != found.offset) {
        add(Structure::stale_object, found.offset, end);
        continue;
      }
      add(Structure::object_header, found.offset, found.offset + offsetof(Header, previous));
      add(Structure::links, found.offset + offsetof(Header, previous),
          found.offset + offsetof(Header, state));
      add(Structure::state_word, found.offset + offsetof(Header, state),
          found.offset + offsetof(Header, expires));
      add(Structure::object_header, found.offset + offsetof(Header, expires),
          found.offset + sizeof(Header));
      const Offset key_end = found.offset + sizeof(Header) + found.header.key_bytes;
      add(Structure::keys, found.offset + sizeof(Header), key_end);
      add(Structure::padding, key_end, value);
      add(Structure::values, value, value + found.header.value_bytes);
      add(Structure::padding, value + found.header.value_bytes, end);
    }
  }

  void take_rival() {
    for (const std::string_view root : {"erda-table", "forca-records", "published-table"}) {
      if (const Result<Offset> offset = pool_->root(root); offset.ok() && *offset != 0) {
        add(Structure::rival_index, *offset, *offset + pool_->object(*offset).size());
      }
    }
  }

  void take_the_rest() {
    std::vector<Extent> gaps;
    Offset at = 0;
    for (const Extent& extent : anatomy_.extents) {
      if (at < extent.begin) {
        gaps.push_back({Structure::free_space, at, extent.begin});
      }
      at = std::max(at, extent.end);
    }
    if (at < region_->size()) {
      gaps.push_back({Structure::free_space, at, region_->size()});
    }
    anatomy_.extents.insert(anatomy_.extents.end(), gaps.begin(), gaps.end());
    std::ranges::sort(anatomy_.extents, {}, &Extent::begin);
  }

  std::unique_ptr<Region> region_;
  std::unique_ptr<Pool> pool_;
  std::vector<Found> objects_;
  Anatomy anatomy_;
};

}  // namespace

std::string_view to_string(Structure structure) {
  constexpr std::array<std::string_view, structure_count> names = {
      "pool header",   "extensions",    "roots",         "log control", "redo log",
      "summary",       "block table",   "store head",    "store marks", "store slots",
      "object header", "state word",    "links",         "keys",        "values",
      "padding",       "stale objects", "segment tails", "free space",  "rival's index"};
  return names.at(static_cast<std::size_t>(structure));
}

std::size_t Anatomy::structures() const {
  const bool has_rival =
      std::ranges::find(extents, Structure::rival_index, &Extent::structure) != extents.end();
  return has_rival ? structure_count : structure_count - 1;
}

bool Anatomy::has(Structure structure) const {
  return structure != Structure::extensions ||
         std::ranges::find(extents, structure, &Extent::structure) != extents.end();
}

Structure Anatomy::at(Offset offset) const {
  const auto next = std::ranges::upper_bound(extents, offset, {}, &Extent::begin);
  return next == extents.begin() ? Structure::free_space : std::prev(next)->structure;
}

Anatomy dissect(ConstBytes image) {
  return Dissection(image).take();
}

}  // namespace remora::corruption
