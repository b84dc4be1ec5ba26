// EfactoryServer: the server half. Handlers for what clients ask, the verifier and the cleaner.
//
// Rounds. Clients reach the pool and the index by themselves, so nothing of these may be moved or
// used anew under them. A round tells every client a new Layout and waits until each has said that
// nothing which it began under an earlier one is under way; one that is silent for too long is
// disconnected, and its queue pair awaited until it is quiet. Who waits for an answer of this
// server is not silent: a client in the middle of an operation that waits for the disk cannot
// arrive before the disk has answered, and is none the worse for it. Cleaning of all of the log
// begins with a round that tells clients in which place of an index entry to look first, and ends
// with one that ends that, as does the cleaning of a part; growth of the index begins with one that
// stops pure READs, and ends with one that allows them again. Only after the last round is old
// space used again.
//
// Grants. A client writes values by itself, and nothing else: its region is guarded by the table of
// what it was granted (kv/common/store_guard.h). A grant is open from the reply that names it until
// its version is found whole; one that was superseded or given up stays open until the client has
// arrived in a later round, after which its space may be used again: so a client that is slow, or
// lost against a newer version, is no intruder. On `mapped` a writer reaches all blocks of the
// pool; header, roots, redo log and block table lie before its region. Where the device cannot ask
// a guard, it reaches the segments of the log (kv/common/segment_keys.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "host/commit_watch.h"
#include "kv/common/segment_keys.h"
#include "kv/common/store_guard.h"
#include "kv/efactory/catalogue.h"
#include "kv/efactory/local_store.h"
#include "kv/efactory/messages.h"
#include "kv/store.h"
#include "rpc/server.h"
#include "runtime/event.h"
#include "runtime/flows.h"

namespace remora::kv::efactory {

struct EngineOptions {
  bool hybrid_reads = true;  // without: efactory-no-hr
};

class EfactoryServer final : public StoreServer, private rpc::Service, private Surroundings {
 public:
  static Result<std::unique_ptr<StoreServer>> start(const Host& host, Pool& pool,
                                                    const ServerOptions& options,
                                                    const EngineOptions& engine);
  ~EfactoryServer() override;

  using StoreServer::accept;
  Result<PeerAddress> accept(const PeerAddress& client, Rights rights) override;
  std::size_t clients() const override { return rpc_->clients(); }
  LocalStore* local() override { return local_.get(); }
  bool busy() const override {
    return verifying_ || !catalogue_->awaited().empty() || unflagged_ != 0 ||
           !catalogue_->flushed().empty() || cleaning_ || growing_ || local_->busy();
  }
  Status finish() override;
  Status changeable() const override { return catalogue_->log().changeable(); }
  Status scrub() override;
  std::vector<Counter> counters() const override;
  std::uint64_t failed_requests() const override { return rpc_->failures(); }
  const Histogram* durability_latency() const override { return &durability_ns_; }

 private:
  // What the scrubber has done, and where it is.
  struct Scrub {
    Tag from = 0;
    bool hurried = false;       // somebody asked for a pass, which is under way
    std::uint64_t looks = 1;    // until the next pause
    std::uint64_t reached = 0;  // keys of this pass
    std::uint64_t damaged = 0;  // of these
    std::uint64_t objects = 0;  // of all passes
    std::uint64_t passes = 0;   // that came to their end
    std::uint64_t last_keys = 0;
    std::uint64_t last_damaged = 0;
    std::uint64_t last_end_ms = 0;  // since 1970
    Sleep* pause = nullptr;
    std::optional<Event> asked;
  };

  struct Peer {
    std::unique_ptr<StoreGuard> guard;           // outlives the region
    std::unique_ptr<fabric::MemoryRegion> pool;  // from its first block on; or else:
    std::unique_ptr<SegmentKeys> segments;
    std::unique_ptr<fabric::MemoryRegion> index;
    std::unique_ptr<fabric::MemoryRegion> old_index;  // until the round that replaces it is over
    std::uint64_t round = 0;                          // that it has arrived in
    std::uint64_t first_of_round = 0;                 // grant that may outlive this round
    std::uint64_t values = 0;                         // on their way, and their space
    std::uint64_t value_bytes = 0;
    std::uint64_t silent_ns = 0;  // in this round, while nothing was owed to it
    std::uint64_t late_ns = 0;    // in this round
    bool is_told = true;          // of this round
    bool leaving = false;
  };

  EfactoryServer(const Host& host, std::unique_ptr<Catalogue> catalogue,
                 const ServerOptions& options, const EngineOptions& engine);

  // Requests.
  rpc::Reply handle(const rpc::Session& session, std::uint32_t call, rpc::Kind kind,
                    ConstBytes request, Bytes body) override;
  Status joined(const rpc::Session& session) override;
  bool left(const rpc::Session& session) override;
  bool may_wait() override;
  rpc::Reply put(const rpc::Session& session, ConstBytes request, Bytes body);
  rpc::Reply put_whole(ConstBytes request, Bytes body, Durability durability);
  Result<Ticket> put_standard(ConstBytes key, ConstBytes value);
  Result<Ticket> put_lasting(ConstBytes key, ConstBytes value);
  rpc::Reply get(ConstBytes key, Bytes body, bool whole, bool checked);
  rpc::Reply del(ConstBytes key, Bytes body);
  rpc::Reply scan(ConstBytes request, Bytes body);
  rpc::Reply persist(const rpc::Session& session, ConstBytes request, Bytes body);
  rpc::Reply arrive(const rpc::Session& session, const RoundReply& reply);
  // Snapshots (snapshot.cpp).
  rpc::Reply answer_snapshot(const rpc::Session& session, ConstBytes request, Bytes body);
  rpc::Reply list_snapshot(std::uint64_t from, Bytes body);
  void end_snapshot_of(rpc::SessionId session);
  rpc::Reply full(Bytes body);
  rpc::Reply list_segments(const rpc::Session& session, ConstBytes request, Bytes body);
  Layout layout(const Peer& peer) const;
  Status share_log(const rpc::Session& session, Peer& peer);

  // What somebody copies is not cleaned as long as puts find room.
  bool is_held() const { return snapshot_ && !full_; }

  // Background.
  Task<void> verify();
  Task<void> flag_flushed();
  // The scrubber (scrub.cpp).
  Task<void> scrub_always();
  Task<void> scrub_pause();
  void end_scrub_pass();
  Task<void> tidy();
  // Damage (marks.cpp).
  bool note_bounds();
  Task<void> move_marks();
  Task<Status> tend_pool();
  Task<void> verify_recovered();
  std::uint64_t verified_keys() const;
  Task<void> forget_expired();
  Task<void> clean_something();
  Task<Status> clean();
  // The marks of versions that were given up are persistent.
  Task<Status> settle_marks();
  // The copies are persistent, and whatever versions were called stale for.
  Task<Status> settle_moves();
  // Frees what ended, when no client uses it any more.
  Task<Status> free_old();
  Task<void> give_up();
  // Both pools live on as one, and entries lead by the place that is its.
  Task<void> keep_both_pools();
  Task<Status> move_all(const std::vector<Segment>& segments, std::vector<Offset>& undecided);
  Task<Status> move_one(Offset offset, std::vector<Offset>* undecided);
  // What is undecided is noted, or, where nothing is to note it in, given up.
  Status carry_out(Catalogue::Fate fate, const Object& object, std::vector<Offset>* undecided);
  // Whether it is the requests' turn, after this version of that fate.
  bool turn_is_over(Catalogue::Fate fate, const Object& object);
  Task<void> settle_old(const std::vector<Segment>& old);
  // Cleaning of a part (cleaning_part.cpp).
  bool has_room_for_all() const;
  // Whether it is time to look for segments that are cheap to clean; those, if they are enough.
  bool may_be_cheap() const;
  bool looks_for_cheap() const;
  struct Worth {
    Segment segment;
    std::uint64_t living_bytes = 0;  // about
  };
  std::vector<Worth> cheap_segments();
  // To which no versions are appended, and of which no more lives than that, in percent; those that
  // hold least first.
  std::vector<Worth> closed_segments(std::uint64_t most_living) const;
  Task<Status> clean_part(std::vector<Worth> worth);
  enum class Moved : std::uint8_t { all, undecided, damaged, no_room };
  Task<Moved> move_living(const Segment& segment);
  Task<void> grow();
  Task<void> round(Reads reads);
  void tell_layout();
  // A client has not arrived, and so much time has passed since the last look.
  bool has_had_its_time(rpc::SessionId id, Peer& peer, std::uint64_t passed_ns) const;
  // How clients READ while the log is cleaned.
  Reads reads_while_cleaning() const;
  Task<Status> persistent(Ticket ticket);
  Status share_index(const rpc::Session& session, Peer& peer);
  // The value there stands still, whoever put it.
  void close_grant(Offset object);
  bool wants_cleaning() const;
  // Whether it may not wait, if it is worth it.
  bool must_clean() const;
  bool is_told_to_clean() const;
  std::uint64_t needed_for_copies() const;
  // A value is not on its way any more: it is durable, or nobody waits for it.
  void arrived_or_lost(const Awaited& version);
  // A version of that size was put.
  void took(std::uint64_t size_bytes);
  // Whether a client may put something now, if there is room.
  bool in_pace() const;
  void set_pace(std::uint64_t to_scan_bytes);
  void wake_verifier();
  void wake_flagger();
  void wake_background();
  // A version that the worker is to look at, if there is one; whether it is whole, and flushed.
  struct Look {
    Region& region;
    const Object object;
    const bool leaves_drain = false;
    bool complete = false;

    void operator()();
  };
  bool verified_aside(const Object& object) const;
  // Whether the newest version of a key may be complete, so that those before it need no look.
  bool is_worth_a_look(const Object& newer) const;
  Task<bool> flush_aside(Object object);
  void wake_tidy();
  // For the local store.
  bool admits(std::uint64_t size_bytes) const override;
  void changed(std::uint64_t size_bytes, bool expires) override;
  void flushed() override { wake_flagger(); }
  void persisted_after(std::uint64_t waited_ns) override { durability_ns_.record(waited_ns); }
  Task<Status> room() override;
  bool is_alone() const override { return rpc_->clients() == 0 && peers_.empty() && !cleaning_; }

  struct Snapshot {
    Snapshot(rpc::SessionId session, std::uint64_t number) : owner(session), id(number) {}

    const rpc::SessionId owner;
    const std::uint64_t id;
    std::uint64_t size_bytes = 0;
    std::vector<Segment> segments;
  };

  const Host host_;
  const Host background_;
  const ServerOptions options_;
  const EngineOptions engine_;
  std::unique_ptr<Catalogue> catalogue_;
  ReadableSpace readable_;
  std::map<rpc::SessionId, Peer> peers_;
  std::unique_ptr<rpc::Server> rpc_;
  std::optional<Snapshot> snapshot_;
  std::uint64_t snapshots_ = 0;   // that were made
  std::vector<Segment> leaving_;  // which no client of the newest round is led to
  std::uint64_t round_ = 0;
  Reads reads_;
  bool verifying_ = false;           // versions are in the verifier's hands, and awaited no more
  Offset in_hand_ = 0;               // the one of them that it looks at
  std::uint64_t verified_keys_ = 0;  // of those that recovery found
  bool all_verified_ = false;
  bool cleaning_ = false;
  bool copying_ = false;                                    // and what is to be copied is known
  bool growing_ = false;                                    // the index
  bool full_ = false;                                       // a put found no space
  bool forgets_grants_ = false;                             // a client has too many: a round is due
  bool part_first_ = options_.cleaning == Cleaning::parts;  // the last found too little room
  bool all_next_ = false;               // a part would cost more, or cannot be cleaned
  bool part_last_ = false;              // the last cleaning was of a part
  std::uint64_t look_again_bytes_ = 0;  // of segments, for cheap ones
  std::uint64_t cleaned_ = 0;           // cleanings that came to their end
  std::uint64_t cleaned_parts_ = 0;
  std::uint64_t ended_ = 0;  // cleanings that came to an end
  std::uint64_t steps_ = 0;  // of the cleaner since requests had their turn
  std::size_t aside_ = 0;    // versions that the worker looks at
  std::uint64_t looked_aside_ = 0;
  std::uint64_t expired_ = 0;  // keys that the background forgot
  std::uint64_t moved_ = 0;    // versions
  Histogram durability_ns_;
  std::uint64_t verified_ = 0;
  std::uint64_t superseded_ = 0;  // versions that needed no verification any more
  std::size_t unflagged_ = 0;  // versions that the verifier has flushed and not yet called durable
  std::uint64_t invalidated_ = 0;
  std::uint64_t puts_ = 0;  // requests
  std::uint64_t gets_ = 0;
  std::uint64_t dels_ = 0;
  std::uint64_t local_uses_ = 0;  // of the local store, when last asked
  std::uint64_t used_after_clean_ = 0;
  std::uint64_t live_after_clean_ = 0;
  bool compressing_ = false;  // the first stage of cleaning: versions are put to the old pool
  struct Pace {
    std::uint64_t room_bytes = 0;   // for what is put until all is scanned
    std::uint64_t taken_bytes = 0;  // by clients
    std::uint64_t to_scan_bytes = 0;
    std::uint64_t scanned_bytes = 0;
  };
  Pace pace_;                        // while the log is scanned
  std::uint64_t live_at_begin_ = 0;  // of the last cleaning, in bytes
  std::uint64_t to_copy_bytes_ = 0;  // while cleaning: no more than this is left to be copied
  Ticket last_move_;
  // What the background flows wait for while there is nothing to do.
  std::optional<Event> to_verify_;
  std::optional<Event> to_flag_;
  std::optional<Event> to_tidy_;
  std::optional<Event> to_expire_;
  Scrub scrub_;
  CommitWatch commits_;
  std::unique_ptr<EfactoryLocal> local_;
  Flows flows_;
};

}  // namespace remora::kv::efactory
