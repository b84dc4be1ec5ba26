#include "lab/world/mapped_actor.h"

#include <algorithm>
#include <cstring>

#include "fabric/nic/queue_pair/pieces.h"

namespace remora::lab {

using fabric::Opcode;
using fabric::QpNumber;
using fabric::SendWork;
using fabric::nic::Connection;
using fabric::nic::Lane;
using fabric::nic::Reachable;
using fabric::nic::total_bytes;

// One queue pair's actor. At most one operation is under way; the timer is its next piece.
class MappedActor::ActorLane final : public Lane, private Timer {
 public:
  ActorLane(MappedActor& actor, Connection& connection, Lane::Owner& owner)
      : actor_(actor), connection_(connection), owner_(owner) {
    actor.lanes_.push_back(this);
  }
  ~ActorLane() override { actor_.lanes_.remove(this); }

  Ran run(std::span<const SendWork> works) override {
    return {0, !works.empty() && !actor_.dead_ && !actor_.stopped_ && begin(works.front())};
  }
  void passed(const SendWork&) override {}

  bool is_inside() const { return inside_; }
  bool uses(const MappedActor& target, QpNumber own) const {
    return inside_ && there_ == &target && connection_.peer == own;
  }
  bool uses_key(const MappedActor& target, fabric::RemoteKey key) const {
    const bool has_word = work_.opcode == Opcode::flush_payload;
    return inside_ && there_ == &target &&
           (work_.remote.key == key || (has_word && work_.word.key == key));
  }
  void stop() { disarm(); }
  void resume() {
    if (inside_) {
      arm_next();
    }
  }
  void die() {
    disarm();
    inside_ = false;
  }
  // The memory goes.
  void leave(const MappedActor& target) {
    if (there_ == &target) {
      die();
      region_.reset();
      there_ = nullptr;
    }
  }
  // All the rest at this moment.
  void finish() {
    while (inside_) {
      step();
    }
  }

 private:
  bool begin(const SendWork& work);
  void step();
  void copy_piece();
  void do_word();
  void do_flush();
  bool finds_word(const MappedActor& there, const SendWork& work);
  void arm_next();
  void expire() override { step(); }
  std::byte* place() const { return region_->bytes().data() + offset_; }

  MappedActor& actor_;
  Connection& connection_;
  Lane::Owner& owner_;
  MappedActor* there_ = nullptr;         // the target
  std::unique_ptr<CrashRegion> region_;  // this actor's view of its memory
  bool inside_ = false;
  SendWork work_;
  std::vector<fabric::Sge> pieces_;
  std::vector<std::byte> bytes_;  // of a WRITE or READ
  std::uint64_t offset_ = 0;      // of the target range in the memory
  std::uint64_t size_bytes_ = 0;
  std::uint64_t done_bytes_ = 0;
  bool flushed_ = false;
  std::uint64_t word_offset_ = 0;  // of a FLUSH with payload
  bool word_stored_ = false;
  bool word_flushed_ = false;
};

namespace {

// The rights that the request needs; none for what goes by the wire.
fabric::AccessFlags rights_of(const SendWork& work) {
  switch (work.opcode) {
    case Opcode::write:
    case Opcode::atomic_write:
      return fabric::remote_write;
    case Opcode::read:
      return fabric::remote_read;
    case Opcode::compare_swap:
    case Opcode::fetch_add:
      return fabric::remote_atomic;
    case Opcode::flush_payload:
      return fabric::flush_persistence;
    case Opcode::flush:
      return work.flush_placement == fabric::FlushPlacement::persistence ? fabric::flush_persistence
                                                                         : fabric::flush_visibility;
    default:
      return 0;
  }
}

}  // namespace

bool MappedActor::ActorLane::begin(const SendWork& work) {
  const fabric::AccessFlags rights = rights_of(work);
  const auto found = actor_.host_.find(connection_.link);
  if (rights == 0 || found == actor_.host_.end() || found->second->target_ == nullptr ||
      work.inline_data || work.pieces.size() > connection_.max_pieces) {
    return false;
  }
  MappedActor& there = *found->second;
  const std::optional<Reachable> what = there.target_->reachable(
      actor_.wire_.id(), connection_.peer, connection_.number, work.remote.key);
  if (!what || (rights & ~what->rights) != 0) {
    return false;
  }
  const bool whole = is_flush(work.opcode) && work.flush_select == fabric::FlushSelect::region;
  const std::uint64_t size = whole                       ? what->bytes.size()
                             : is_flush(work.opcode)     ? work.flush_bytes
                             : changes_word(work.opcode) ? word_bytes
                                                         : total_bytes(work.pieces);
  const auto base = reinterpret_cast<std::uintptr_t>(what->bytes.data());
  const std::uint64_t address = whole ? base : work.remote.address;
  const fabric::AccessFlags local =
      brings_bytes(work.opcode) ? fabric::local_write : fabric::local_read;
  const ConstBytes memory = there.memory_.visible();
  const std::uint64_t offset = address - reinterpret_cast<std::uintptr_t>(memory.data());
  if (size == 0 || size > connection_.max_message_bytes ||
      !within(address - base, size, what->bytes.size()) || !within(offset, size, memory.size()) ||
      !allows_all_in_place(connection_, work.pieces, local) ||
      (changes_word(work.opcode) && address % word_bytes != 0) ||
      (brings_bytes(work.opcode) && total_bytes(work.pieces) != size) ||
      (rights == fabric::flush_persistence &&
       there.memory_.strategy().granularity == Granularity::page)) {
    return false;
  }
  if (work.opcode == Opcode::flush_payload && !finds_word(there, work)) {
    return false;
  }
  if (region_ == nullptr || there_ != &there) {
    there_ = &there;
    region_ = std::make_unique<CrashRegion>(there.memory_);
  }
  // What went by the wire before is in place when it is acknowledged, on a wire of one host.
  there.dma_.place_all(connection_.peer);
  work_ = work;
  pieces_.assign(work.pieces.begin(), work.pieces.end());
  bytes_.clear();
  if (work.opcode == Opcode::write) {
    for (const fabric::Sge& piece : pieces_) {
      bytes_.insert(bytes_.end(), piece.address, piece.address + piece.size_bytes);
    }
  } else {
    bytes_.resize(size);
  }
  offset_ = offset;
  size_bytes_ = size;
  done_bytes_ = 0;
  flushed_ = word_stored_ = word_flushed_ = false;
  inside_ = true;
  arm_next();
  return true;
}

// Where the word of a FLUSH with payload lies, if it may be stored there.
bool MappedActor::ActorLane::finds_word(const MappedActor& there, const SendWork& work) {
  const std::optional<Reachable> what = there.target_->reachable(
      actor_.wire_.id(), connection_.peer, connection_.number, work.word.key);
  constexpr fabric::AccessFlags rights =
      fabric::AccessFlags{fabric::remote_write} | fabric::flush_persistence;
  if (!what || (rights & ~what->rights) != 0 ||
      !within(work.word.address - reinterpret_cast<std::uintptr_t>(what->bytes.data()), word_bytes,
              what->bytes.size()) ||
      why_not_post_payload(work) != nullptr ||
      !is_agreed(work.opcode, connection_.traits.agreed.verbs)) {
    return false;
  }
  const ConstBytes memory = there.memory_.visible();
  word_offset_ = work.word.address - reinterpret_cast<std::uintptr_t>(memory.data());
  return within(word_offset_, word_bytes, memory.size());
}

void MappedActor::ActorLane::arm_next() {
  Random& random = actor_.random_;
  const ActorOptions& options = actor_.options_;
  std::uint64_t span_ns = random.between(options.shortest_ns, options.longest_ns);
  if (options.stops_one_in != 0 && random.chance(1, options.stops_one_in)) {
    span_ns += random.between(1, options.longest_stop_ns);
  }
  actor_.runtime_.arm(*this, actor_.runtime_.after(span_ns));
}

void MappedActor::ActorLane::step() {
  if (changes_word(work_.opcode)) {
    do_word();
  } else if (is_flush(work_.opcode)) {
    do_flush();
  } else {
    copy_piece();
  }
  if (done_bytes_ < size_bytes_) {
    arm_next();
    return;
  }
  disarm();
  inside_ = false;
  ConstBytes brought = brings_bytes(work_.opcode) ? ConstBytes(bytes_) : ConstBytes();
  for (const fabric::Sge& piece : pieces_) {
    if (!brought.empty()) {
      std::memcpy(piece.address, brought.data(), piece.size_bytes);
      actor_.runtime_.placed(ConstBytes(piece.address, piece.size_bytes));
      brought = brought.subspan(piece.size_bytes);
    }
  }
  owner_.lane_finished();
}

// Pieces end at words of the target, so that none is torn.
void MappedActor::ActorLane::copy_piece() {
  const std::uint64_t begin = offset_ + done_bytes_;
  const std::uint64_t end = offset_ + size_bytes_;
  const std::uint64_t wanted =
      begin + actor_.random_.between(word_bytes, actor_.options_.largest_piece_bytes);
  const std::uint64_t upto =
      wanted >= end ? end : std::max(begin, round_down(wanted, std::uint64_t{word_bytes}));
  std::byte* at = region_->bytes().data() + begin;
  const std::size_t size = upto - begin;
  if (work_.opcode == Opcode::read) {
    std::memcpy(bytes_.data() + done_bytes_, at, size);
  } else {
    const ConstBytes from = ConstBytes(bytes_).subspan(done_bytes_, size);
    if (actor_.random_.chance(1, 2)) {
      region_->copy(at, from);  // past the caches, with its fence
      (void)region_->drain();
    } else {
      std::memcpy(at, from.data(), size);
    }
    actor_.runtime_.placed(ConstBytes(at, size));
  }
  done_bytes_ += size;
}

void MappedActor::ActorLane::do_word() {
  const auto before = load<std::uint64_t>(place());
  std::uint64_t after = work_.operand;
  if (work_.opcode == Opcode::fetch_add) {
    after = before + work_.operand;
  } else if (work_.opcode == Opcode::compare_swap && before != work_.compare) {
    after = before;
  }
  store(bytes_.data(), before);
  store(place(), after);
  actor_.runtime_.placed(ConstBytes(place(), word_bytes));
  done_bytes_ = size_bytes_;
}

void MappedActor::ActorLane::do_flush() {
  const bool to_medium = work_.flush_placement == fabric::FlushPlacement::persistence;
  if (to_medium && !flushed_) {
    region_->flush(ConstBytes(place(), size_bytes_));
    flushed_ = true;
    return;
  }
  if (to_medium) {
    (void)region_->drain();
  }
  if (work_.opcode == Opcode::flush_payload && !word_stored_) {
    // The covered bytes are persistent: now the word, in the same three steps.
    store(region_->bytes().data() + word_offset_, work_.operand);
    actor_.runtime_.placed(ConstBytes(region_->bytes().data() + word_offset_, word_bytes));
    word_stored_ = true;
    return;
  }
  if (work_.opcode == Opcode::flush_payload && !word_flushed_) {
    region_->flush(ConstBytes(region_->bytes().data() + word_offset_, word_bytes));
    word_flushed_ = true;
    return;
  }
  done_bytes_ = size_bytes_;
}

// --- The process ---

MappedActor::MappedActor(Runtime& runtime, MappedHost& host, fabric::nic::sim::SimWire& wire,
                         CrashMemory& memory, CrashDma& dma, Random random,
                         const ActorOptions& options)
    : runtime_(runtime),
      host_(host),
      wire_(wire),
      memory_(memory),
      dma_(dma),
      random_(random),
      options_(options) {
  host_[wire.id()] = this;
  wire_.set_shortcut(this);
  dma_.flush_by_cpu();
}

MappedActor::~MappedActor() {
  wire_.set_shortcut(nullptr);
  power_off();
}

void MappedActor::power_off() {
  die();
  host_.erase(wire_.id());
  // Who is in the middle of this memory is on the same machine.
  for (const auto& [node, actor] : host_) {
    for (ActorLane* lane : actor->lanes_) {
      lane->leave(*this);
    }
  }
}

std::unique_ptr<Lane> MappedActor::open_lane(Connection& connection, Lane::Owner& owner) {
  return std::make_unique<ActorLane>(*this, connection, owner);
}

void MappedActor::stop() {
  stopped_ = true;
  for (ActorLane* lane : lanes_) {
    lane->stop();
  }
}

void MappedActor::resume() {
  stopped_ = false;
  for (ActorLane* lane : lanes_) {
    lane->resume();
  }
}

void MappedActor::die() {
  dead_ = true;
  for (ActorLane* lane : lanes_) {
    lane->die();
  }
}

bool MappedActor::is_inside() const {
  return std::any_of(lanes_.begin(), lanes_.end(),
                     [](const ActorLane* lane) { return lane->is_inside(); });
}

bool MappedActor::quiet(QpNumber own) const {
  if (!options_.epochs) {
    return true;
  }
  return std::none_of(host_.begin(), host_.end(), [&](const auto& entry) {
    const auto& lanes = entry.second->lanes_;
    return std::any_of(lanes.begin(), lanes.end(),
                       [&](const ActorLane* lane) { return lane->uses(*this, own); });
  });
}

void MappedActor::release(fabric::RemoteKey key) {
  if (!options_.epochs || dead_) {
    return;
  }
  for (const auto& [node, actor] : host_) {
    const std::list<ActorLane*> lanes = actor->lanes_;
    for (ActorLane* lane : lanes) {
      if (!lane->uses_key(*this, key)) {
        continue;
      }
      if (actor->stopped_) {
        actor->die();
      } else {
        lane->finish();
      }
    }
  }
}

std::string MappedActor::describe() const {
  return "READ, WRITE, atomics and FLUSH are CPU stores of the initiator, piece by piece";
}

}  // namespace remora::lab
