// For tests of rights: a client that does not use the store's own code. It joins as others do, and
// then asks for what it likes.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kv/efactory/messages.h"
#include "kv/log/object_format.h"
#include "link/session_message.h"
#include "link/token_proof.h"
#include "link/wires.h"
#include "pmem/open_region.h"
#include "rpc/caller.h"
#include "runtime/poll_loop.h"

namespace remora::server {

class Intruder final : public fabric::nic::LinkOwner {
 public:
  // Through the socket of the store's host.
  Intruder(PollLoop& loop, link::WireKind fabric, const std::string& path, const std::string& token)
      : Intruder(loop) {
    wire_.emplace(link::Wires::create(loop, this, fabric).value());
    open_device();
    link_ = loop.block_on(wire_->wire().connect(path)).value();
    join(token, {});
  }
  // By the network.
  Intruder(PollLoop& loop, const fabric::nic::roce::IpEndpoint& store, const std::string& token)
      : Intruder(loop) {
    wire_.emplace(loop.block_on(link::Wires::connect_to(loop, *this, store)).value());
    open_device();
    link_ = *wire_->network_link();
    join(token, link::network_connect);
  }

  // READs until the pool is mapped, where it can be, so that what comes next may go that way.
  void read_some(std::uint64_t offset) {
    for (int i = 0; i < 50; ++i) {
      fabric::SendWork work{.opcode = fabric::Opcode::read, .remote = pool(offset)};
      EXPECT_EQ(attempt(work), fabric::WorkStatus::success);
      (void)loop_.run_for(200'000);
    }
  }
  bool goes_by_itself() const { return nic_->counters().requests_short_cut != 0; }

  // One verb on 8 bytes.
  fabric::WorkStatus attempt(fabric::SendWork work) { return attempt_with(work, 8); }
  // The same on more, all of them `fill`.
  fabric::WorkStatus write(std::uint64_t offset, std::size_t size_bytes, char fill) {
    std::memset(memory_->data(), fill, size_bytes);
    return attempt_with({.opcode = fabric::Opcode::write, .remote = pool(offset)}, size_bytes);
  }
  fabric::WorkStatus flush(std::uint64_t offset, std::uint32_t size_bytes) {
    return attempt({.opcode = fabric::Opcode::flush,
                    .remote = pool(offset),
                    .flush_bytes = size_bytes,
                    .flush_placement = fabric::FlushPlacement::visibility});
  }

  // Space for a value of so many bytes that are all `fill`, or the failure that was answered.
  Result<kv::efactory::PutReply> ask_for_space(const std::string& key, std::size_t value_bytes,
                                               char fill) {
    return loop_.block_on(put(key, std::string(value_bytes, fill)));
  }
  Status persist(std::uint64_t object_offset, std::uint64_t sequence) {
    return loop_.block_on(ask_to_persist({object_offset, sequence}));
  }
  // Where the key's object lies.
  Result<kv::efactory::GetReply> find(const std::string& key) { return loop_.block_on(get(key)); }
  // Says that it has taken note of the newest layout that it was told.
  Status arrive() { return loop_.block_on(say_arrived()); }
  std::uint64_t round_told() const { return round_told_; }

  fabric::RemoteAddress pool(std::uint64_t offset) const {
    return {layout_.pool.address + offset, layout_.pool.key};
  }
  fabric::RemoteAddress index() const { return layout_.index; }
  const kv::efactory::Layout& layout() const { return layout_; }

 private:
  explicit Intruder(PollLoop& loop) : loop_(loop), memory_(make_dram(64 * page_bytes).value()) {}

  void open_device() {
    nic_.emplace(loop_, wire_->device_wire(), dma_);
    caller_ = rpc::Caller::create(Host(loop_, *nic_), {}).value();
    region_ = caller_->domain()
                  .register_memory(memory_->bytes(), fabric::local_write, memory_.get())
                  .value();
  }
  void join(const std::string& token, const fabric::ConnectOptions& options) {
    link::ProofTalk talk{.client = link::fresh_nonce()};
    say({.kind = link::SessionKind::ask,
         .service = std::string(link::store_service),
         .nonce = talk.client},
        link::SessionKind::offer);
    talk.host = heard_.nonce;
    link::SessionMessage join{.kind = link::SessionKind::join,
                              .service = std::string(link::store_service),
                              .design = "efactory",
                              .queue_pair = caller_->address()};
    join.proof = link::prove(token, link::ProofSide::client, talk, 0, join);
    say(join, link::SessionKind::welcome);
    EXPECT_TRUE(caller_->connect(heard_.queue_pair, options).ok());
    caller_->on_notice([this](rpc::Kind kind, ConstBytes body) {
      if (kind == kv::efactory::new_layout) {
        round_told_ = kv::read_struct<kv::efactory::Layout>(body)->round;
      }
    });
    layout_ = loop_.block_on(hello());
  }
  void say(const link::SessionMessage& message, link::SessionKind expected) {
    EXPECT_TRUE(wire_->send_control(link_, link::encode(message)).ok());
    for (int i = 0; i < 50'000 && heard_.kind != expected; ++i) {
      (void)loop_.run_for(100'000);
    }
    EXPECT_EQ(heard_.kind, expected) << heard_.reason.message();
  }
  fabric::WorkStatus attempt_with(fabric::SendWork work, std::size_t size_bytes) {
    const fabric::Sge piece = region_->piece(0, size_bytes);
    if (work.opcode != fabric::Opcode::flush && work.opcode != fabric::Opcode::atomic_write) {
      work.pieces = std::span(&piece, 1);
    }
    return loop_.block_on(run(work)).status;
  }
  Task<kv::efactory::Layout> hello() {
    rpc::CallSlot slot = co_await caller_->slot();
    const Result<ConstBytes> reply = co_await caller_->call(slot, kv::efactory::hello, 0);
    EXPECT_TRUE(reply.ok());
    co_return *kv::read_struct<kv::efactory::Layout>(*reply);
  }
  Task<Result<kv::efactory::PutReply>> put(std::string key, std::string value) {
    rpc::CallSlot slot = co_await caller_->slot();
    const kv::efactory::PutRequest ask{
        .key_bytes = static_cast<std::uint32_t>(key.size()),
        .value_bytes = static_cast<std::uint32_t>(value.size()),
        .client_sum = kv::object_format::client_checksum(as_bytes(key), as_bytes(value))};
    const std::size_t head = kv::write_struct(slot.request(), ask);
    std::memcpy(slot.request().data() + head, key.data(), key.size());
    REMORA_CO_TRY_RESULT(
        reply, co_await caller_->call(slot, kv::efactory::put_request, head + key.size()));
    co_return *kv::read_struct<kv::efactory::PutReply>(*reply);
  }
  Task<Result<kv::efactory::GetReply>> get(std::string key) {
    rpc::CallSlot slot = co_await caller_->slot();
    std::memcpy(slot.request().data(), key.data(), key.size());
    REMORA_CO_TRY_RESULT(reply,
                         co_await caller_->call(slot, kv::efactory::get_request, key.size()));
    co_return *kv::read_struct<kv::efactory::GetReply>(*reply);
  }
  Task<Status> ask_to_persist(kv::efactory::PersistRequest ask) {
    rpc::CallSlot slot = co_await caller_->slot();
    const std::size_t size = kv::write_struct(slot.request(), ask);
    const Result<ConstBytes> reply =
        co_await caller_->call(slot, kv::efactory::Message::persist, size);
    co_return reply.ok() ? Status() : reply.status();
  }
  Task<Status> say_arrived() {
    rpc::CallSlot slot = co_await caller_->slot();
    const std::size_t size =
        kv::write_struct(slot.request(), kv::efactory::RoundReply{round_told_});
    const Result<ConstBytes> reply = co_await caller_->call(slot, kv::efactory::arrived, size);
    co_return reply.ok() ? Status() : reply.status();
  }
  Task<fabric::WorkCompletion> run(fabric::SendWork work) {
    std::array<fabric::SendWork, 1> works = {work};
    co_return co_await caller_->flows().post_all(caller_->queue_pair(), works);
  }
  void control(fabric::nic::LinkId, ConstBytes bytes) override {
    heard_ = link::decode(bytes).value();
  }

  PollLoop& loop_;
  std::optional<link::Wires> wire_;
  fabric::nic::PlainDma dma_;
  std::optional<fabric::nic::Nic> nic_;
  std::unique_ptr<Region> memory_;
  std::unique_ptr<rpc::Caller> caller_;
  std::unique_ptr<fabric::MemoryRegion> region_;
  fabric::nic::LinkId link_ = 0;
  link::SessionMessage heard_;
  kv::efactory::Layout layout_;
  std::uint64_t round_told_ = 0;
};

// Every verb that changes memory or makes it persistent.
inline std::vector<fabric::SendWork> changes(const fabric::RemoteAddress& there) {
  using fabric::Opcode;
  return {{.opcode = Opcode::write, .remote = there},
          {.opcode = Opcode::write_imm, .remote = there, .immediate = 1},
          {.opcode = Opcode::compare_swap, .remote = there, .compare = 0, .operand = 1},
          {.opcode = Opcode::fetch_add, .remote = there, .operand = 1},
          {.opcode = Opcode::atomic_write, .remote = there, .operand = 1},
          {.opcode = Opcode::flush, .remote = there, .flush_bytes = 8}};
}

}  // namespace remora::server
