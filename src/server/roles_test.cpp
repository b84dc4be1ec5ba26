// Least rights: what a client of the role read may do to a store on either wire, by the store's own
// requests and by verbs of its own.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "base/folder_testing.h"
#include "kv/efactory/messages.h"
#include "rpc/caller.h"
#include "runtime/poll_loop.h"
#include "server/store_host.h"
#include "server/store_link.h"

namespace remora::server {
namespace {

constexpr const char* reader_token = "a token for reading";
constexpr const char* writer_token = "a token for writing";

class RolesTest : public testing::TestWithParam<LocalFabric> {
 protected:
  RolesTest() {
    StoreHostOptions options;
    options.socket_path = folder_.file("socket");
    options.pool_path = folder_.file("pool");
    options.fabric = GetParam();
    options.pool_bytes = 1 << 20;
    options.access.tokens = {{reader_token, Role::read}, {writer_token, Role::write}};
    Result<std::unique_ptr<StoreHost>> host = StoreHost::open(loop_, options);
    EXPECT_TRUE(host.ok()) << host.status().message();
    host_ = std::move(host).value();
  }

  Result<std::unique_ptr<StoreLink>> connect(const std::string& token) {
    StoreLinkOptions options;
    options.fabric = GetParam();
    options.token = token;
    return loop_.block_on(StoreLink::connect(loop_, folder_.file("socket"), options));
  }
  std::string get(StoreLink& link, const std::string& key) {
    std::string value(100, '\0');
    const Result<std::size_t> size =
        loop_.block_on(link.store().get(as_bytes(key), std::as_writable_bytes(std::span(value))));
    return size.ok() ? value.substr(0, *size) : std::string(to_string(size.code()));
  }
  // Everything that was put is persistent, and flagged so: from here the pool stands still.
  void settle() {
    for (int i = 0; i < 5000 && host_->store().busy(); ++i) {
      (void)loop_.run_for(1'000'000);
    }
    EXPECT_FALSE(host_->store().busy());
    (void)loop_.run_for(20'000'000);
  }
  std::string pool_bytes() {
    std::ifstream file(folder_.file("pool"), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const TestFolder folder_;
  PollLoop loop_;
  std::unique_ptr<StoreHost> host_;
};

INSTANTIATE_TEST_SUITE_P(fabrics, RolesTest,
                         testing::Values(LocalFabric::ring, LocalFabric::mapped),
                         [](const testing::TestParamInfo<LocalFabric>& param) {
                           return std::string(to_string(param.param));
                         });

TEST_P(RolesTest, tokens_give_their_roles) {
  EXPECT_EQ((*connect(""))->role(), "admin");
  EXPECT_EQ((*connect(reader_token))->role(), "read");
  EXPECT_EQ((*connect(writer_token))->role(), "write");
  EXPECT_EQ(connect("a token of nobody").code(), Code::permission_denied);
}

TEST_P(RolesTest, a_reader_reads_and_cannot_change) {
  const auto writer = std::move(connect(writer_token)).value();
  const auto reader = std::move(connect(reader_token)).value();
  EXPECT_TRUE(loop_.block_on(writer->store().put(as_bytes("key"), as_bytes("value"))).ok());
  EXPECT_EQ(get(*reader, "key"), "value");
  const Status put = loop_.block_on(reader->store().put(as_bytes("key"), as_bytes("other")));
  EXPECT_EQ(put.code(), Code::permission_denied);
  EXPECT_EQ(loop_.block_on(reader->store().del(as_bytes("key"))).code(), Code::permission_denied);
  EXPECT_EQ(get(*reader, "key"), "value");
  EXPECT_EQ(get(*writer, "key"), "value");
}

TEST_P(RolesTest, only_an_admin_stops_the_store) {
  EXPECT_EQ(loop_.block_on((*connect(writer_token))->stop()).code(), Code::permission_denied);
  EXPECT_FALSE(host_->stop_wanted());
  EXPECT_TRUE(loop_.block_on((*connect(""))->stop()).ok());
  EXPECT_TRUE(host_->stop_wanted());
}

TEST_P(RolesTest, tells_which_wire_is_taken) {
  const auto reader = std::move(connect(reader_token)).value();
  EXPECT_EQ(loop_.block_on(reader->wire_taken()), GetParam());
  const Facts facts = loop_.block_on(reader->stat()).value();
  EXPECT_EQ(find_fact(facts, "clients"), "1");
  EXPECT_EQ(find_fact(facts, "clients_mapped"), GetParam() == LocalFabric::mapped ? "1" : "0");
  EXPECT_LT(to_text(facts).size(), session_format::tail_bytes_max);
}

// A client that does not use the store's own code: it joins, and then says what it likes.
class Intruder final : public fabric::nic::LinkOwner {
 public:
  Intruder(PollLoop& loop, LocalFabric fabric, const std::string& path, const std::string& token)
      : loop_(loop),
        wire_(LocalWire::create(loop, this, fabric).value()),
        nic_(loop, wire_.wire(), dma_),
        caller_(rpc::Caller::create(Host(loop, nic_), {}).value()),
        memory_(make_dram(page_bytes).value()),
        region_(caller_->domain()
                    .register_memory(memory_->bytes(), fabric::local_write, memory_.get())
                    .value()) {
    link_ = loop.block_on(wire_.wire().connect(path)).value();
    ProofTalk talk{.client = fresh_nonce()};
    say({.kind = SessionKind::ask, .nonce = talk.client}, SessionKind::offer);
    talk.host = heard_.nonce;
    SessionMessage join{
        .kind = SessionKind::join, .engine = "efactory", .queue_pair = caller_->address()};
    join.proof = prove(token, ProofSide::client, talk, 0, join);
    say(join, SessionKind::welcome);
    EXPECT_TRUE(caller_->connect(heard_.queue_pair, {}).ok());
    layout_ = loop.block_on(hello());
  }

  // READs until the pool is mapped, where it can be, so that what comes next may go that way.
  void read_some() {
    for (int i = 0; i < 50; ++i) {
      fabric::SendWork work{.opcode = fabric::Opcode::read, .remote = layout_.pool};
      EXPECT_EQ(attempt(work), fabric::WorkStatus::success);
      (void)loop_.run_for(200'000);
    }
  }
  bool goes_by_itself() const { return nic_.counters().requests_short_cut != 0; }
  fabric::WorkStatus attempt(fabric::SendWork work) {
    const fabric::Sge piece = region_->piece(0, 8);
    if (work.opcode != fabric::Opcode::flush && work.opcode != fabric::Opcode::atomic_write) {
      work.pieces = std::span(&piece, 1);
    }
    return loop_.block_on(run(work)).status;
  }
  fabric::RemoteAddress pool(std::uint64_t offset) const {
    return {layout_.pool.address + offset, layout_.pool.key};
  }
  fabric::RemoteAddress index() const { return layout_.index; }

 private:
  void say(const SessionMessage& message, SessionKind expected) {
    EXPECT_TRUE(wire_.wire().send_control(link_, encode(message)).ok());
    for (int i = 0; i < 5000 && heard_.kind != expected; ++i) {
      (void)loop_.run_for(1'000'000);
    }
    EXPECT_EQ(heard_.kind, expected) << heard_.reason.message();
  }
  Task<kv::efactory::Layout> hello() {
    rpc::CallSlot slot = co_await caller_->slot();
    const Result<ConstBytes> reply = co_await caller_->call(slot, kv::efactory::hello, 0);
    EXPECT_TRUE(reply.ok());
    co_return *kv::read_struct<kv::efactory::Layout>(*reply);
  }
  Task<fabric::WorkCompletion> run(fabric::SendWork work) {
    std::array<fabric::SendWork, 1> works = {work};
    co_return co_await caller_->flows().post_all(caller_->queue_pair(), works);
  }
  void control(fabric::nic::LinkId, ConstBytes bytes) override { heard_ = decode(bytes).value(); }

  PollLoop& loop_;
  LocalWire wire_;
  fabric::nic::PlainDma dma_;
  fabric::nic::Nic nic_;
  std::unique_ptr<rpc::Caller> caller_;
  std::unique_ptr<Region> memory_;
  std::unique_ptr<fabric::MemoryRegion> region_;
  fabric::nic::LinkId link_ = 0;
  SessionMessage heard_;
  kv::efactory::Layout layout_;
};

// Every verb that changes memory or makes it persistent.
std::vector<fabric::SendWork> changes(const fabric::RemoteAddress& there) {
  using fabric::Opcode;
  return {{.opcode = Opcode::write, .remote = there},
          {.opcode = Opcode::write_imm, .remote = there, .immediate = 1},
          {.opcode = Opcode::compare_swap, .remote = there, .compare = 0, .operand = 1},
          {.opcode = Opcode::fetch_add, .remote = there, .operand = 1},
          {.opcode = Opcode::atomic_write, .remote = there, .operand = 1},
          {.opcode = Opcode::flush, .remote = there, .flush_bytes = 8}};
}

TEST_P(RolesTest, a_reader_cannot_change_a_byte_by_verbs_of_its_own) {
  const auto writer = std::move(connect(writer_token)).value();
  EXPECT_TRUE(loop_.block_on(writer->store().put(as_bytes("key"), as_bytes("value"))).ok());
  settle();
  const std::string before = pool_bytes();
  for (std::size_t which = 0; which < changes({}).size(); ++which) {
    for (const bool in_index : {false, true}) {
      Intruder intruder(loop_, GetParam(), folder_.file("socket"), reader_token);
      intruder.read_some();
      EXPECT_EQ(intruder.goes_by_itself(), GetParam() == LocalFabric::mapped);
      const fabric::RemoteAddress there = in_index ? intruder.index() : intruder.pool(4096);
      EXPECT_EQ(intruder.attempt(changes(there)[which]), fabric::WorkStatus::remote_access_error)
          << which;
      EXPECT_TRUE(pool_bytes() == before) << which;
    }
  }
  EXPECT_EQ(get(*writer, "key"), "value");
}

// The same attempt with the rights for it succeeds: the test above can fail.
TEST_P(RolesTest, a_writer_can_write_the_pool) {
  Intruder intruder(loop_, GetParam(), folder_.file("socket"), writer_token);
  intruder.read_some();
  const std::string before = pool_bytes();
  const fabric::SendWork write{.opcode = fabric::Opcode::write,
                               .remote = intruder.pool(before.size() - 8)};
  EXPECT_EQ(intruder.attempt(write), fabric::WorkStatus::success);
}

}  // namespace
}  // namespace remora::server
