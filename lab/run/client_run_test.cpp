#include "lab/run/client_run.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>

#include "fabric/nic/device/nic.h"
#include "fabric/nic/wire/sim/profile.h"
#include "fabric/nic/wire/sim/sim_network.h"
#include "fabric/nic/wire/sim/sim_wire.h"
#include "runtime/virtual_loop.h"

namespace remora::store_bench {
namespace {

using workload::Kind;

// A store in a map, whose operations take a microsecond.
class MapStore final : public kv::StoreClient {
 public:
  explicit MapStore(Runtime& runtime) : runtime_(runtime) {}

  Task<Status> put(ConstBytes key, ConstBytes value, kv::PutOptions) override {
    most_in_flight = std::max(most_in_flight, ++in_flight_);
    co_await runtime_.sleep_for(1000);
    --in_flight_;
    if (!refuses.ok() && refusals != 0) {
      --refusals;
      co_return refuses;
    }
    map[text(key)] = text(value);
    co_return Status();
  }
  Task<Result<std::size_t>> get(ConstBytes key, Bytes value) override {
    co_await runtime_.sleep_for(1000);
    const auto found = map.find(text(key));
    if (found == map.end()) {
      co_return Status(Code::not_found, "no such key");
    }
    std::memcpy(value.data(), found->second.data(), found->second.size());
    co_return found->second.size();
  }
  Task<Status> del(ConstBytes key) override {
    co_await runtime_.sleep_for(1000);
    map.erase(text(key));
    co_return Status();
  }
  Task<Result<kv::ScanCursor>> scan(kv::ScanCursor from, std::size_t most_keys,
                                    kv::ScanSink& sink) override {
    co_await runtime_.sleep_for(1000);
    auto at = std::next(map.begin(), static_cast<std::ptrdiff_t>(std::min(from, map.size())));
    for (; at != map.end() && most_keys != 0; ++at, ++from, --most_keys) {
      sink.key(std::as_bytes(std::span(at->first)));
    }
    co_return at == map.end() ? kv::ScanCursor{0} : from;
  }
  Status failure() const override { return gone; }

  std::map<std::string, std::string> map;
  Status refuses;
  std::uint64_t refusals = UINT64_MAX;
  Status gone;
  int most_in_flight = 0;

 private:
  static std::string text(ConstBytes bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  Runtime& runtime_;
  int in_flight_ = 0;
};

class ClientRunTest : public testing::Test {
 protected:
  ClientRunTest()
      : network_(loop_, *fabric::nic::sim::load_nic_profile("connectx-5"),
                 *fabric::nic::sim::load_memory_profile("dram"), Random(1)),
        nic_(loop_, network_.add_node(), dma_, {.keys = fabric::nic::Keys::from_seed(1)}),
        store_(loop_) {
    loop_.add_cores(1);
  }

  // Loads, warms up and measures.
  void perform(const char* workload, ClientRunOptions options = {}) {
    plan_.workload = workload::parse_workload(workload).value();
    plan_.records = 50;
    plan_.operations = 200;
    plan_.warm_up = 20;
    inserts_ = std::make_unique<workload::Inserts>(plan_.records, 1);
    options.check_values = true;
    run_ =
        std::make_unique<ClientRun>(Host(loop_, nic_), store_, plan_, *inserts_, *meter_, options);
    ASSERT_TRUE(loop_.block_on(run_->load()).ok());
    loop_.block_on(run_->warm_up());
    begin_ns_ = loop_.now_ns();
    loop_.block_on(run_->measure());
  }

  VirtualLoop loop_;
  fabric::nic::sim::SimNetwork network_;
  fabric::nic::PlainDma dma_;
  fabric::nic::Nic nic_;
  MapStore store_;
  workload::Plan plan_;
  std::unique_ptr<workload::Inserts> inserts_;
  std::unique_ptr<workload::Meter> meter_ = std::make_unique<workload::Meter>();
  std::unique_ptr<ClientRun> run_;
  std::uint64_t begin_ns_ = 0;
};

TEST_F(ClientRunTest, loads_all_records_and_measures_all_operations_but_the_warm_up) {
  perform("a");
  EXPECT_EQ(store_.map.size(), 50u);
  EXPECT_EQ(meter_->count(), 200u);
  EXPECT_EQ(meter_->summary().failures, 0u);
  EXPECT_EQ(meter_->summary().mean_ns, 1000);
  EXPECT_EQ(run_->performed(), 270u);
  EXPECT_EQ(run_->planned(), 270u);
}

TEST_F(ClientRunTest, has_one_operation_in_flight_unless_told_otherwise) {
  perform("update-only");
  EXPECT_EQ(store_.most_in_flight, 1);
  EXPECT_EQ(loop_.now_ns() - begin_ns_, 200'000u);
}

TEST_F(ClientRunTest, has_as_many_in_flight_as_it_is_told) {
  perform("update-only", {.depth = 4});
  EXPECT_EQ(store_.most_in_flight, 4);
  EXPECT_EQ(loop_.now_ns() - begin_ns_, 50'000u);
}

TEST_F(ClientRunTest, inserts_new_keys_and_finds_them) {
  perform("d", {.depth = 8});
  EXPECT_EQ(store_.map.size(), 50 + inserts_->inserted());
  EXPECT_GT(meter_->summary(Kind::insert).count, 0u);
  EXPECT_EQ(meter_->summary(Kind::read).missing, 0u);
}

TEST_F(ClientRunTest, scans_and_reads_what_it_found) {
  perform("e");
  EXPECT_GT(meter_->summary(Kind::scan).count, 0u);
  // One call for the keys at least, and one for each value.
  EXPECT_GT(meter_->summary(Kind::scan).mean_ns, 2000);
  EXPECT_EQ(meter_->summary().failures, 0u);
}

TEST_F(ClientRunTest, reads_before_it_writes) {
  perform("f");
  EXPECT_EQ(meter_->summary(Kind::read_modify_write).min_ns, 2000u);
}

TEST_F(ClientRunTest, counts_keys_that_are_missing) {
  perform("read:50,delete:50");
  EXPECT_GT(meter_->summary(Kind::read).missing, 0u);
  EXPECT_EQ(meter_->summary().failures, 0u);
}

TEST_F(ClientRunTest, notices_values_that_nobody_wrote) {
  plan_.workload = workload::parse_workload("c").value();
  perform("c");
  EXPECT_EQ(meter_->summary().failures, 0u);
  for (auto& [key, value] : store_.map) {
    value[value.size() / 2] = static_cast<char>(value[value.size() / 2] ^ 1);
  }
  meter_->clear();
  ClientRun again(Host(loop_, nic_), store_, plan_, *inserts_, *meter_, {.check_values = true});
  loop_.block_on(again.warm_up());
  loop_.block_on(again.measure());
  EXPECT_EQ(meter_->summary().failures, 200u);
  EXPECT_EQ(again.first_failure().code(), Code::damaged);
}

TEST_F(ClientRunTest, a_load_that_fails_says_why) {
  plan_.workload = workload::parse_workload("a").value();
  inserts_ = std::make_unique<workload::Inserts>(plan_.records, 1);
  store_.refuses = Status(Code::no_space, "full");
  ClientRun run(Host(loop_, nic_), store_, plan_, *inserts_, *meter_, {});
  EXPECT_EQ(loop_.block_on(run.load()).code(), Code::no_space);
  EXPECT_EQ(run.performed(), 1u);
}

TEST_F(ClientRunTest, tries_a_load_again_that_took_too_long) {
  plan_.workload = workload::parse_workload("a").value();
  inserts_ = std::make_unique<workload::Inserts>(plan_.records, 1);
  store_.refuses = Status(Code::timed_out, "late");
  store_.refusals = 4;
  ClientRun run(Host(loop_, nic_), store_, plan_, *inserts_, *meter_, {});
  EXPECT_TRUE(loop_.block_on(run.load()).ok());
  EXPECT_EQ(store_.map.size(), plan_.records);
}

TEST_F(ClientRunTest, counts_failures_and_goes_on) {
  perform("update-only");
  store_.refuses = Status(Code::timed_out, "late");
  meter_->clear();
  ClientRun again(Host(loop_, nic_), store_, plan_, *inserts_, *meter_, {});
  loop_.block_on(again.measure());
  EXPECT_EQ(meter_->summary().failures, 220u);
  EXPECT_EQ(meter_->count(), 0u);
}

TEST_F(ClientRunTest, ends_when_the_store_has_failed_for_good) {
  perform("update-only");
  store_.gone = Status(Code::closed, "gone");
  meter_->clear();
  ClientRun again(Host(loop_, nic_), store_, plan_, *inserts_, *meter_, {});
  loop_.block_on(again.measure());
  EXPECT_EQ(meter_->summary().failures, 0u);
}

}  // namespace
}  // namespace remora::store_bench
