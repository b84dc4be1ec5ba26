// Versions: the objects and the hash table of eFactory as published, and what stage a cleaning is
// in, which decides where a put goes and where a get looks.
//
// A key's versions are a list: the hash entry leads to the newest, PrePTR from each to the one
// before, NextPTR to the one after. Header (with PrePTR) and entry are flushed, and PrePTR again
// when the cleaner changes it; NextPTR is for the cleaner alone, and never flushed.
//
// One thread; host and pool outlive it. Nothing here waits.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "host/host.h"
#include "kv/common/hopscotch_table.h"
#include "kv/log/log.h"
#include "kv/rivals/efactory_published/entry_format.h"
#include "kv/store.h"

namespace remora::kv::efactory_published {

enum class Stage : std::uint8_t {
  none,
  compress,  // puts go to the old data pool
  merge,     // and to the new one
  end,       // entries flip, one after the other
};

class Versions {
 public:
  static Result<std::unique_ptr<Versions>> create(const Host& host, Pool& pool,
                                                  const ServerOptions& options);
  // recovery.cpp
  static Result<std::unique_ptr<Versions>> recover(const Host& host, Pool& pool,
                                                   const ServerOptions& options);

  // --- What requests do.
  // A version without its value, linked and indexed; the caller drains.
  Result<Object> put(ConstBytes key, std::uint32_t value_bytes, std::uint32_t client_sum);
  // Empties the entry. The del has happened when the ticket is persistent.
  Ticket del(ConstBytes key);
  // The newest version that has the flag or is whole; the latter is persistent with the ticket.
  struct Found {
    std::optional<Object> object = {};
    Ticket ticket = {};
  };
  Found get(ConstBytes key);

  // --- What others ask and do of versions.
  // Computes the checksum; the host is charged.
  static bool is_whole(const Object& object, const Host& host);
  // Flushes all of it; it is persistent with the ticket.
  static Ticket persist(const Object& object, const Host& host);
  // PrePTR, if a version of the same key is there.
  std::optional<Object> before(const Object& object) const;
  // NextPTR, the same.
  std::optional<Object> after(const Object& object) const;

  // Whether a version was cleaned away with its data pool, and was valid: it was moved, or a newer
  // one or a deletion is persistent. Known as long as the space is not used again.
  bool has_left(Offset offset, std::uint64_t sequence) const;

  // The entry of a key, until the next insertion or deletion; or null.
  Bucket* find(ConstBytes key) const;
  // The newer of what the two places of an entry lead to; of a version and its copy, the copy.
  Object newest(const Bucket& bucket) const;
  static Place place_of(const Object& object) {
    return {.offset = object.offset(), .size_bytes = object.size_bytes()};
  }
  void set_place(Bucket& bucket, std::size_t which, const Place& place);

  // --- Stages, which the cleaner steps through.
  Stage stage() const { return stage_; }
  void enter(Stage stage) { stage_ = stage; }
  // Which place of an entry is for the current data pool, outside of the end of a cleaning.
  std::size_t current() const { return current_; }
  std::size_t next() const { return 1 - current_; }
  void flip() { current_ = next(); }

  Log& log() { return *log_; }
  const Log& log() const { return *log_; }
  HopscotchTable& table() { return *table_; }
  std::uint64_t sequence() const { return sequence_; }
  const Host& host() const { return host_; }

 private:
  explicit Versions(const Host& host) : host_(host) {}
  Status take_entries();
  void take(Bucket& bucket);
  std::optional<Object> newest_whole(const Place& place, Tag tag) const;
  void forget_twin(Bucket& bucket);
  std::vector<Offset> offsets() const;
  std::optional<Object> at_link(const Object& from, Link link) const;
  bool goes_to_new_pool() const { return stage_ == Stage::merge || stage_ == Stage::end; }
  Status index(ConstBytes key, Bucket* bucket, const Place& place);

  const Host host_;
  std::unique_ptr<Log> log_;
  std::unique_ptr<HopscotchTable> table_;
  Stage stage_ = Stage::none;
  std::size_t current_ = 0;
  std::uint64_t sequence_ = 0;
  Ticket last_del_;
};

}  // namespace remora::kv::efactory_published
