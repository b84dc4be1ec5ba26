// The history of one key, made ready for the search: a register that is written and read, the
// events in order, and all that can be known before the search begins.
#pragma once

#include <cstdint>
#include <vector>

#include "lab/check/history.h"

namespace remora {

// What a cut may take from the register.
enum class CutRule : std::uint8_t {
  keeps_all,      // only writes acknowledged as visible, and not as persistent
  may_roll_back,  // every write that was not acknowledged as persistent
};

using RegisterValue = std::uint32_t;
inline constexpr RegisterValue absent = 0;                  // no such key
inline constexpr RegisterValue unread = ~RegisterValue{0};  // some value that no get returned

inline constexpr std::uint32_t no_index = ~std::uint32_t{0};
inline constexpr std::uint32_t most_open_operations = 64;

struct RegisterOperation {
  OperationIndex source = 0;
  bool write = false;
  bool required = false;    // it must take effect before it is closed
  bool never_read = false;  // a write whose value no get returned
  RegisterValue value = absent;
  std::uint32_t slot = 0;  // its bit while it is open
  Position closed = never;

  std::uint64_t bit() const { return std::uint64_t{1} << slot; }
};

struct RegisterEvent {
  enum class Kind : std::uint8_t {
    begin,
    must_end,  // the operation has taken effect by now
    may_end,   // it has, or it never will
    expire,    // it died in the cut just before
    cut,       // what is pending took effect, or expires
    roll,      // a cut that may also take back what was there
  };
  Kind kind = Kind::begin;
  std::uint32_t operation = no_index;  // none for a cut
  std::uint32_t segment = 0;           // how many cuts that roll came before
  Position at = 0;
  std::vector<std::uint32_t> open;  // operations that may take effect just before this event
};

// A stretch between cuts that roll.
struct RegisterSegment {
  Position end = never;                   // the cut that closes it
  bool repeats = false;                   // some write is open across that cut
  std::vector<Position> last_read_begin;  // by value: of the reads that are answered within
};

class RegisterLog {
 public:
  // `operations` are those of one key, in the order of their invocation.
  RegisterLog(const History& history, const std::vector<OperationIndex>& operations, CutRule rule);

  // More operations were open at once than the search has bits for: nothing else may be asked.
  bool too_wide() const { return too_wide_; }

  const std::vector<RegisterOperation>& operations() const { return operations_; }
  const std::vector<RegisterEvent>& events() const { return events_; }
  const RegisterSegment& segment(const RegisterEvent& event) const {
    return segments_[event.segment];
  }
  // Whether the cut that closes the segment may lose this write, if it took effect before.
  bool losable(const RegisterOperation& operation, const RegisterSegment& segment) const {
    return losable_before(operation, segment.end);
  }
  // How many writes leave the value. A register that was never written holds `absent`.
  std::uint32_t writers(RegisterValue value) const { return writers_[value]; }
  // The write that leaves the value, when there is exactly one; else no_index.
  std::uint32_t only_writer(RegisterValue value) const { return only_writer_[value]; }
  // Whether the value, once overwritten, cannot come back before a cut.
  bool comes_once(RegisterValue value) const {
    return writers_[value] + (value == absent ? 1 : 0) == 1;
  }
  bool read_after(RegisterValue value, Position position) const {
    return last_read_end_[value] > position;
  }
  // For people.
  OperationIndex source_of(RegisterValue value) const;
  std::uint64_t id_of(RegisterValue value) const { return ids_[value]; }

 private:
  bool losable_before(const RegisterOperation& operation, Position cut) const;
  RegisterValue value_of(std::uint64_t id);
  void take_reads(const std::vector<OperationIndex>& operations);
  void take_writes(const std::vector<OperationIndex>& operations);
  void order_events();
  bool rolls(const Cut& cut) const;
  void lay_out();
  void summarize();

  const History& history_;
  CutRule rule_;
  bool too_wide_ = false;
  std::vector<RegisterOperation> operations_;
  std::vector<RegisterEvent> events_;
  std::vector<RegisterSegment> segments_;
  std::vector<std::uint64_t> ids_ = {0};
  std::vector<std::uint32_t> writers_;
  std::vector<std::uint32_t> only_writer_;
  std::vector<Position> last_read_end_;
};

}  // namespace remora
