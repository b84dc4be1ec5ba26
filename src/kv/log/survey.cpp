#include "kv/log/survey.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "kv/log/kept_prefix.h"
#include "kv/log/object.h"

namespace remora::kv {
namespace {

using object_format::Header;
using store_format::Head;
using store_format::Marks;
using store_format::Slot;

// The engine whose versions all carry a checksum of what was put.
constexpr std::string_view verified_engine = "efactory";

struct Extent {
  SegmentNumber number = 0;
  Offset offset = 0;
  std::uint64_t capacity_bytes = 0;
  std::uint64_t mark = 0;
  bool is_damaged = false;  // its slot cannot be: it counts as far as its objects say
};

struct Found {
  Offset offset = 0;
  bool before_mark = false;
};

struct Version {
  Offset offset = 0;
  std::uint64_t sequence = 0;
  bool deleted = false;
  bool whole = true;
};

class Surveyor {
 public:
  // The layout is a guess where the pool does not open.
  Surveyor(Bytes view, Pool* pool)
      : view_(view),
        pool_(pool),
        plan_(PoolLayout::guess(view.first(page_bytes), view.size()).header()) {}

  Survey take() {
    const std::optional<Offset> superblock = find_superblock();
    if (superblock) {
      survey_.has_store = true;
      take_segments(*superblock);
      for (const auto& [number, extent] : segments_) {
        walk_segment(extent);
      }
      take_found();
      if (pool_ == nullptr) {
        search_objects(next_number(*superblock));
      }
    } else if (!survey_.findings.empty()) {
      survey_.by_objects_alone = true;
      survey_.engine = std::string(verified_engine);
      search_objects(0);
      survey_.has_store = survey_.versions != 0;
    }
    if (!survey_.has_store) {
      survey_.findings.clear();
    }
    sum_up();
    return std::move(survey_);
  }

 private:
  void find(Finding::What what, Offset place, std::uint64_t size_bytes, std::string text,
            std::string key = {}) {
    survey_.findings.push_back({what, place, size_bytes, std::move(key), std::move(text)});
  }

  // --- The superblock.

  bool is_head(Offset place) const {
    if (place % word_bytes != 0 || place > view_.size() ||
        view_.size() - place < store_format::slots_begin) {
      return false;
    }
    const Head head = load<Head>(place);
    return head.magic == store_format::magic && head.checksum == checksum_of(head) &&
           head.version >= store_format::oldest_version && head.version <= store_format::version &&
           store_format::superblock_bytes(head.slot_count) <= view_.size() - place;
  }

  // Nothing where there is no store, or none that can be found; then a finding says so.
  std::optional<Offset> find_superblock() {
    std::optional<Offset> root;
    if (pool_ != nullptr) {
      const Result<Offset> found = pool_->root(store_format::root_name);
      if (!found.ok()) {
        return std::nullopt;
      }
      root = *found;
    } else {
      root = root_in_bytes();
    }
    if (root && is_head(*root)) {
      return root;
    }
    find(Finding::What::superblock, root.value_or(0), sizeof(Head),
         root ? "the superblock of the store fails its checks" : "the root 'store' is not found");
    return superblock_in_bytes();
  }

  std::optional<Offset> root_in_bytes() const {
    for (std::uint32_t i = 0; i < plan_.root_count; ++i) {
      const auto root = load<pool_format::Root>(plan_.roots + i * sizeof(pool_format::Root));
      const std::string_view name(root.name.data(), ::strnlen(root.name.data(), root.name.size()));
      if (name == store_format::root_name && is_head(root.value)) {
        return root.value;
      }
    }
    return std::nullopt;
  }

  // Objects of a pool begin at whole lines.
  std::optional<Offset> superblock_in_bytes() const {
    std::optional<Offset> found;
    for (Offset at = blocks_begin(); at + store_format::slots_begin <= view_.size();
         at += cache_line_bytes) {
      if (is_head(at) && (!found || next_number(at) > next_number(*found))) {
        found = at;
      }
    }
    return found;
  }

  SegmentNumber next_number(Offset superblock) const {
    return load<Marks>(superblock + store_format::marks_begin).next_number;
  }

  Offset blocks_begin() const { return plan_.blocks; }

  // --- Segments.

  void take_segments(Offset superblock) {
    const Head head = load<Head>(superblock);
    const Marks marks = load<Marks>(superblock + store_format::marks_begin);
    survey_.engine =
        std::string(head.engine.data(), ::strnlen(head.engine.data(), head.engine.size()));
    survey_.unverified = survey_.engine != verified_engine;
    is_old_ = head.version < store_format::oldest_marked;
    if (head.version >= store_format::oldest_settled && !survey_.unverified) {
      settled_ = marks.settled;
      cleared_ = marks.cleared;
    }
    std::uint64_t total = store_format::sum_of(marks);
    std::uint64_t led_to = 1;
    for (std::uint32_t i = 0; i < head.slot_count; ++i) {
      const Offset place = store_format::slot_place(superblock, i);
      const Slot slot = load<Slot>(place);
      if (slot.number == 0) {
        continue;
      }
      total += store_format::sum_of(i, slot);
      ++led_to;
      take_slot(place, slot, marks);
    }
    if (!is_old_ && total != marks.total) {
      find(Finding::What::superblock, superblock + store_format::marks_begin, sizeof(Marks),
           "the table of segments in the store's superblock fails its check");
    }
    if (pool_ != nullptr && !survey_.unverified && objects_of_store() > led_to) {
      find(Finding::What::superblock, superblock, sizeof(Head),
           "the superblock of the store is older than the pool, which holds more of it");
    }
    std::erase_if(segments_,
                  [](const auto& entry) { return entry.second.capacity_bytes < sizeof(Header); });
    survey_.segments = segments_.size();
  }

  std::uint64_t objects_of_store() const {
    return pool_->usage().accounts[static_cast<std::size_t>(Account::store)].object_count;
  }

  void take_slot(Offset place, const Slot& slot, const Marks& marks) {
    Extent extent{slot.number, slot.offset, capacity_of(slot.offset), is_old_ ? 0 : slot.end,
                  false};
    extent.is_damaged = slot.number >= marks.next_number || slot.data_pool == 0 ||
                        extent.capacity_bytes == 0 || extent.mark > extent.capacity_bytes ||
                        segments_.contains(slot.number);
    if (extent.is_damaged) {
      find(Finding::What::superblock, place, sizeof(Slot),
           "a slot of the store's superblock is damaged");
      extent.mark = std::min(extent.mark, extent.capacity_bytes);
    }
    if (slot.data_pool >= marks.first_live || extent.is_damaged) {
      segments_.try_emplace(slot.number, extent);
    }
  }

  // Without the pool nobody knows: objects end where the numbers of their segments do.
  std::uint64_t capacity_of(Offset offset) const {
    if (offset % cache_line_bytes != 0 || offset >= view_.size() || offset < blocks_begin()) {
      return 0;
    }
    if (pool_ == nullptr) {
      return view_.size() - offset;
    }
    return pool_->is_live(offset) ? pool_->object(offset).size() : 0;
  }

  // --- Objects.

  std::optional<Object> object_at(Offset offset, std::uint64_t room,
                                  std::optional<SegmentNumber> number) {
    if (room < sizeof(Header)) {
      return std::nullopt;
    }
    const Header header = load<Header>(offset);
    if ((number && header.segment != *number) || !object_format::plausible(header, room)) {
      return std::nullopt;
    }
    const ConstBytes key = view_.subspan(offset + sizeof header, header.key_bytes);
    if (header.header_checksum != object_format::header_checksum(header, key)) {
      return std::nullopt;
    }
    return Object(view_.data() + offset, offset);
  }

  void walk_segment(const Extent& extent) {
    std::uint64_t at = 0;
    std::uint64_t lost = 0;  // bytes right before `at` in which no object was found
    for (;;) {
      const std::optional<Object> object =
          object_at(extent.offset + at, extent.capacity_bytes - at, extent.number);
      if (object) {
        note_lost(extent, at, lost);
        lost = 0;
        at += object->size_bytes();
        found_.push_back({object->offset(), at <= extent.mark});
      } else if (at < extent.mark) {
        lost += object_format::alignment_bytes;
        at += object_format::alignment_bytes;
      } else {
        break;
      }
    }
    note_lost(extent, at, lost);
  }

  void note_lost(const Extent& extent, std::uint64_t end, std::uint64_t lost) {
    if (lost != 0) {
      find(Finding::What::header, extent.offset + end - lost, lost,
           "objects of segment " + std::to_string(extent.number) + " cannot be read");
    }
  }

  // Whatever looks like an object, all over the pool, of segments from this number on: those that
  // were opened since the table was as it is now, or all.
  void search_objects(SegmentNumber from) {
    for (Offset at = blocks_begin(); at < view_.size();) {
      const std::optional<Object> object = object_at(at, view_.size() - at, std::nullopt);
      const bool is_whole = object && (object->kind() == Kind::tombstone || object->intact());
      if (object && object->segment() >= from) {
        take_version(*object, is_whole);
      }
      at += is_whole ? object->size_bytes() : object_format::alignment_bytes;
    }
  }

  // What counts of what the segments hold. Where some of it is damaged, nobody can tell what a cut
  // took, and all counts.
  void take_found() {
    std::uint64_t end = UINT64_MAX;
    if (settled_ && survey_.findings.empty()) {
      KeptPrefix kept(std::max(*settled_, cleared_));
      for (const Found& found : found_) {
        const Object object = at(found.offset);
        if (object.sequence() > *settled_) {
          const bool says_so = (flags_of(object) & ~object_format::invalid_flag) != 0;
          kept.add({.sequence = object.sequence(),
                    .offset = found.offset,
                    .more = object.more(),
                    .was_persistent = found.before_mark || says_so});
        }
      }
      end = kept.end([this](Offset offset) { return is_version(at(offset)); });
    }
    for (const Found& found : found_) {
      take_version(at(found.offset), found.before_mark, end);
    }
  }

  Object at(Offset offset) const { return Object(view_.data() + offset, offset); }

  bool is_version(const Object& object) const {
    return (flags_of(object) & object_format::invalid_flag) == 0 &&
           (object.kind() == Kind::tombstone || object.intact());
  }

  std::uint64_t flags_of(const Object& object) const {
    const Header header = load<Header>(object.offset());
    const std::uint64_t state =
        is_old_ ? object_format::upgraded_state(header.state, header.segment) : header.state;
    return object_format::flags_of(state, header.segment);
  }

  void take_version(const Object& object, bool before_mark, std::uint64_t end = UINT64_MAX) {
    ++survey_.versions;
    survey_.behind_marks += before_mark ? 0u : 1u;
    const std::uint64_t flags = flags_of(object);
    if (object.sequence() >= end || object.sequence() <= cleared_ ||
        (!survey_.unverified && (flags & object_format::invalid_flag) != 0)) {
      return;
    }
    Version version{object.offset(), object.sequence(), object.kind() == Kind::tombstone, true};
    if (!version.deleted && !survey_.unverified) {
      version.whole = object.intact();
      if (!version.whole && !before_mark && (flags & object_format::durable_flag) == 0) {
        return;  // it never came
      }
    }
    const auto [known, is_new] = newest_.try_emplace(as_text(object.key()), version);
    Version& newest = known->second;
    const bool is_same = !is_new && newest.sequence == version.sequence;
    if (newest.sequence < version.sequence || (is_same && version.whole)) {
      newest = version;
    }
  }

  void sum_up() {
    std::ranges::stable_sort(survey_.findings, {}, [](const Finding& finding) {
      return std::pair(finding.what, finding.place);
    });
    for (const auto& [key, version] : newest_) {
      if (version.deleted) {
        continue;
      }
      ++survey_.keys;
      if (version.whole) {
        survey_.whole.push_back(version.offset);
        continue;
      }
      ++survey_.damaged_keys;
      const Header header = load<Header>(version.offset);
      find(Finding::What::value, version.offset + object_format::value_begin(header.key_bytes),
           header.value_bytes, "the value fails its checksum", std::string(key));
    }
    const auto by_key = [](const Finding& a, const Finding& b) {
      return a.what == Finding::What::value && b.what == Finding::What::value && a.key < b.key;
    };
    std::ranges::stable_sort(survey_.findings, by_key);
  }

  template <typename T>
  T load(Offset place) const {
    T value;
    std::memcpy(&value, view_.data() + place, sizeof value);
    return value;
  }

  const Bytes view_;
  Pool* const pool_;
  const pool_format::Header plan_;
  bool is_old_ = false;
  std::optional<std::uint64_t> settled_;  // where the store and its engine have it
  std::uint64_t cleared_ = 0;
  std::vector<Found> found_;
  std::map<SegmentNumber, Extent> segments_;
  std::unordered_map<std::string_view, Version> newest_;
  Survey survey_;
};

}  // namespace

Survey survey_store(Bytes view, Pool* pool) {
  return Surveyor(view, pool).take();
}

}  // namespace remora::kv
