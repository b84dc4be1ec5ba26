// For the tests of engines: one server and its clients on a simulated network, in virtual time, on
// plain memory. Verbs that block until the operation has ended.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "fabric/nic/device/sim_machine.h"
#include "fabric/nic/wire/sim/profile.h"
#include "fabric/nic/wire/sim/sim_network.h"
#include "kv/store.h"
#include "pmem/open_region.h"
#include "pmem/pool.h"
#include "runtime/virtual_loop.h"
#include "runtime/worker.h"

namespace remora::kv {

inline ConstBytes bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

class StoreFixture : public testing::Test {
 protected:
  // With `segment_keys`, clients are given the segments, each with its key, as on RDMA devices.
  explicit StoreFixture(const Engine& engine, bool segment_keys = false)
      : engine_(&engine),
        segment_keys_(segment_keys),
        network_(loop_, *fabric::nic::sim::load_nic_profile("connectx-5"),
                 *fabric::nic::sim::load_memory_profile("dram"), Random(1)),
        near_(loop_, network_),
        far_(loop_, network_),
        elsewhere_(loop_, network_) {
    loop_.add_cores(4);
    start(4 << 20, {.create = true, .expected_keys = 16});
  }

  // A fresh store, or the one that is there; on the old memory with every object of the program
  // gone. One client is connected.
  void start(std::size_t pool_bytes, ServerOptions options, const Faults& faults = Faults()) {
    options.segment_keys = segment_keys_;
    client_.reset();
    server_.reset();
    pool_.reset();
    if (options.create) {
      const std::size_t region_bytes = std::max(pool_bytes, room_bytes_);
      region_ = make_region_ ? make_region_(region_bytes) : make_dram(region_bytes).value();
      pool_ = Pool::create(*region_, {}, Faults(), room_bytes_ == 0 ? 0 : pool_bytes).value();
    } else {
      pool_ = Pool::open(*region_, "test").value();
    }
    Result<std::unique_ptr<StoreServer>> server = engine_->start_server(
        Host(loop_, far_.nic, region_.get(), faults).with_worker(worker_.get()), *pool_, options);
    ASSERT_TRUE(server.ok()) << server.status().message();
    server_ = std::move(server).value();
    client_ = connected();
  }
  void restart() { start(0, {.create = false}); }

  std::unique_ptr<StoreClient> connected(const ClientOptions& options = {},
                                         const Faults& faults = Faults()) {
    return connected(near_, options, faults);
  }
  // On a machine of its own, so that it does not wait behind what the others send.
  std::unique_ptr<StoreClient> connected_elsewhere() { return connected(elsewhere_, {}, Faults()); }

  Status put(const std::string& key, const std::string& value, PutOptions options = {}) {
    return loop_.block_on(client_->put(bytes_of(key), bytes_of(value), options));
  }
  // The value, or the name of the failure.
  std::string get(const std::string& key) { return get(*client_, key); }
  std::string get(StoreClient& client, const std::string& key) {
    std::string value(100'000, '\0');
    const Result<std::size_t> size =
        loop_.block_on(client.get(bytes_of(key), std::as_writable_bytes(std::span(value))));
    return size.ok() ? value.substr(0, *size) : std::string(to_string(size.status().code()));
  }
  Status del(const std::string& key) { return loop_.block_on(client_->del(bytes_of(key))); }
  std::set<std::string> scan() {
    struct Sink final : ScanSink {
      void key(ConstBytes key) override { keys.insert(std::string(as_text(key))); }
      std::set<std::string> keys;
    } sink;
    ScanCursor cursor = 0;
    do {
      cursor = loop_.block_on(client_->scan(cursor, 10, sink)).value();
    } while (cursor != 0);
    return sink.keys;
  }
  std::uint64_t counter(std::string_view name) {
    for (const StoreServer::Counter& counter : server_->counters()) {
      if (counter.name == name) {
        return counter.value;
      }
    }
    ADD_FAILURE() << "no counter " << name;
    return 0;
  }
  // Whether another client sees something that is neither value while the second replaces the
  // first.
  bool is_torn_while_put(const std::string& key, const std::string& first,
                         const std::string& second) {
    EXPECT_TRUE(put(key, first).ok());
    std::unique_ptr<StoreClient> other = connected_elsewhere();
    Task<Status> slow = client_->put(bytes_of(key), bytes_of(second), {});
    std::deque<std::string> values;
    std::vector<Task<Result<std::size_t>>> gets;
    while (!slow.finished()) {
      values.emplace_back(first.size(), '\0');
      gets.push_back(other->get(bytes_of(key), std::as_writable_bytes(std::span(values.back()))));
      (void)loop_.run_for(200);
    }
    EXPECT_TRUE(slow.take().ok());
    bool is_torn = false;
    for (std::size_t i = 0; i < gets.size(); ++i) {
      EXPECT_TRUE(loop_.block_on(std::move(gets[i])).ok());
      is_torn = is_torn || (values[i] != first && values[i] != second);
    }
    return is_torn;
  }
  // Damages the last byte of every place in the pool where these bytes are; how many there are.
  int damage(std::string_view text) {
    int count = 0;
    const std::string_view pool = as_text(region_->bytes());
    for (std::size_t at = pool.find(text); at != std::string_view::npos;
         at = pool.find(text, at + 1)) {
      region_->data()[at + text.size() - 1] ^= std::byte{1};
      ++count;
    }
    return count;
  }
  void settle() { (void)loop_.run_for(200'000); }

  std::unique_ptr<StoreClient> connected(fabric::nic::sim::SimMachine& machine,
                                         const ClientOptions& options, const Faults& faults) {
    std::unique_ptr<PendingClient> pending =
        engine_->start_client(Host(loop_, machine.nic, nullptr, faults, {}, 2), options).value();
    const PeerAddress server = server_->accept(pending->address()).value();
    Result<std::unique_ptr<StoreClient>> client = loop_.block_on(pending->connect(server));
    EXPECT_TRUE(client.ok()) << client.status().message();
    return std::move(client).value();
  }

  const Engine* engine_;
  const bool segment_keys_;
  VirtualLoop loop_{{.seed = 1}};
  std::unique_ptr<Worker> worker_;  // none unless a test makes one
  fabric::nic::sim::SimNetwork network_;
  fabric::nic::sim::SimMachine near_;
  fabric::nic::sim::SimMachine far_;
  fabric::nic::sim::SimMachine elsewhere_;
  std::size_t room_bytes_ = 0;  // up to which pools of `start` may grow
  std::function<std::unique_ptr<Region>(std::size_t)>
      make_region_;  // plain memory if there is none
  std::unique_ptr<Region> region_;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<StoreServer> server_;
  std::unique_ptr<StoreClient> client_;
};

}  // namespace remora::kv
