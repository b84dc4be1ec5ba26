// RedoLog: several words of a pool change together or not at all.
//
// A record names the words and their new values. Once it is persistent the change has happened;
// only then are the words put in place. Recovery replays, in order, every record that is not known
// to be in place ("retired"), and stops at the first that is missing or fails its checks.
//
// Why this survives a power cut at any point:
//  - A record counts only if its checksum, its epoch and its place in the sequence are right, so a
//    torn one, or one left over from an earlier life, is as good as none.
//  - Words are put in place only after their record is persistent; if some reach the medium and
//    others do not, replay writes them all again.
//  - A slot is reused only after the mark `retired` that covers its record is persistent, and the
//    mark is written only after the words of those records are.
//  - Opening replays, makes the words persistent, and only then starts a new epoch, which kills all
//    records at once, with one 8-byte write. A cut before that replays the same records again.
//  - A record says how far records were known to be persistent when it was written. Where replay
//    stops at a record of which a later one says that it was, that is damage, and no cut.
//  - Seals let a record depend on bytes that are flushed in the same commit: when they did not make
//    it, the record does not count either. No order between the two is needed.
//
// On page media records wait for a group commit, and their words are not in place until then: read
// words that transactions write through load(). One owner thread.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/faults.h"
#include "base/result.h"
#include "pmem/pool_checks.h"
#include "pmem/pool_format.h"
#include "pmem/pool_layout.h"
#include "pmem/region.h"

namespace remora {

class RedoLog {
 public:
  RedoLog(Region& region, const PoolLayout& layout, const Faults& faults);

  // The pool has grown: records may name places in the newest piece.
  void grow(const PoolLayout& grown) { layout_ = grown; }

  // Replays what is not in place and starts a new epoch. Returns how many records it replayed.
  // Call it once, before anything else. `verify` looks at the words in place before the records
  // that put them there die; when it fails, so does recover(), and no new epoch starts. Damaged,
  // and nothing is changed, when log control is, or a record that was persistent. A log of version
  // 1 is read by the rules of that version, and stays one until upgrade_control().
  Result<std::uint64_t> recover(const std::function<Status()>& verify = nullptr,
                                std::uint32_t found_version = pool_format::version);

  // Instead of recover(), for who saves what is whole: replays all that counts, also behind records
  // that are damaged, and lists what is wrong. No new epoch starts, and nothing becomes persistent.
  void salvage(std::uint32_t found_version, std::vector<PoolFinding>& findings);

  // The state of log control in a new pool, on its way to the medium when this returns.
  static void format(Region& region, const pool_format::Header& header);

  // Writes log control as this version has it; on its way to the medium when this returns. After
  // recover(), before any record.
  void upgrade_control(std::uint64_t total);

  // Writes one record. When the ticket is persistent, all its words are changed for good.
  // Blocks only on page media, and only when the log is full of records that wait for a commit.
  Result<Ticket> append(std::span<const pool_format::Write> writes,
                        std::span<const pool_format::Seal> seals);

  // The newest value of a word, whether or not it is in place yet.
  std::uint64_t load(Offset place) const;

  // Puts in place what has become persistent. Never blocks.
  void put_in_place();

  // Records up to this sequence number are in place for good: recovery never reads them again.
  std::uint64_t retired() const { return retired_; }
  std::uint64_t newest() const { return next_ - 1; }

  // Blocks until every record is retired.
  Status retire_all();

  // Goes on with retiring what is in place, without blocking, and asks for the commits that this
  // needs. True while it is under way: call it again when a commit has ended. Does nothing, and
  // asks for no commit, when every record is retired.
  Result<bool> tend();

  // Whether log control is on the medium as it was written last.
  Status check_control() const;

 private:
  enum class Step : std::uint8_t { idle, homes, mark };

  std::byte* slot(std::uint64_t sequence) const;
  std::uint64_t used() const { return next_ - 1 - retired_; }
  Status make_room();
  Status retire(bool block);
  Status wait_if(bool block, Ticket ticket);
  void apply(std::uint64_t sequence);
  // Whether the slot has a record of this log, whole in itself.
  bool is_record(const std::byte* slot) const;
  bool counts(std::uint64_t sequence) const;
  bool may_change(Offset word) const;
  bool holds(const pool_format::Seal& seal) const;
  Status read_control();
  // The first record from `next_` on that does not count.
  std::uint64_t find_end() const;
  // Damaged when that record was persistent, or when the epoch is not the newest.
  Status check_end(std::uint64_t end) const;
  void for_each_record(const std::function<void(std::uint64_t index,
                                                const pool_format::RecordHead& head)>& visit) const;
  // Whether a later record says that this one was persistent.
  bool is_vouched_for(std::uint64_t sequence) const;
  void apply_structures(std::uint64_t sequence);
  std::uint64_t replay(std::uint64_t end);
  Status start_epoch(std::uint64_t epoch);

  Region& region_;
  PoolLayout layout_;
  const pool_format::Header header_;
  const Faults faults_;
  pool_format::LogControl* control_;
  std::uint32_t version_ = pool_format::version;  // that the log's words are of
  std::uint64_t epoch_ = 0;
  std::uint64_t next_ = 1;      // sequence number of the next record
  std::uint64_t in_place_ = 0;  // words of records up to here are in place, not yet persistent
  std::uint64_t retired_ = 0;
  std::vector<Ticket> tickets_;  // of the record in each slot

  Step step_ = Step::idle;
  std::uint64_t retiring_ = 0;
  Ticket step_ticket_;
};

}  // namespace remora
