// Clients in threads of their own, with one Inserts between them and no lock.
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "lab/workload/stream.h"

namespace remora::workload {
namespace {

constexpr std::uint32_t clients = 4;
constexpr int operations = 5'000;

struct Seen {
  std::vector<std::uint64_t> inserted;
  std::vector<std::uint64_t> absent;  // keys that were named and did not exist
  std::vector<Kind> kinds;
};

void run_client(const Plan& plan, Inserts& inserts, std::uint32_t client, Seen& seen) {
  Stream stream(plan, inserts, client);
  Operation operation;
  for (int i = 0; i < operations && stream.next(operation); ++i) {
    seen.kinds.push_back(operation.kind);
    if (operation.kind == Kind::insert) {
      seen.inserted.push_back(operation.key);
      stream.inserted(operation);
    } else if (!inserts.exists(operation.key)) {
      seen.absent.push_back(operation.key);
    }
  }
}

std::vector<Seen> run_all(const Plan& plan, Inserts& inserts) {
  std::vector<Seen> seen(clients);
  std::vector<std::thread> threads;
  for (std::uint32_t client = 0; client < clients; ++client) {
    threads.emplace_back([&, client] { run_client(plan, inserts, client, seen[client]); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  return seen;
}

TEST(StreamThreads, insert_distinct_keys_and_name_only_keys_that_exist) {
  for (const char* workload : {"d", "e", "insert:1,read:1,update:1"}) {
    Plan plan;
    plan.workload = std::move(parse_workload(workload)).value();
    plan.clients = clients;
    Inserts inserts(plan.records, clients);
    std::set<std::uint64_t> keys;
    std::uint64_t inserted = 0;
    for (const Seen& seen : run_all(plan, inserts)) {
      EXPECT_EQ(seen.kinds.size(), static_cast<std::size_t>(operations));
      EXPECT_TRUE(seen.absent.empty()) << workload;
      keys.insert(seen.inserted.begin(), seen.inserted.end());
      inserted += seen.inserted.size();
    }
    EXPECT_EQ(keys.size(), inserted);
    EXPECT_EQ(inserts.inserted(), inserted);
  }
}

TEST(StreamThreads, draw_the_same_kinds_and_insert_the_same_keys_in_every_run) {
  Plan plan;
  plan.workload = std::move(parse_workload("d")).value();
  plan.clients = clients;
  Inserts first(plan.records, clients);
  Inserts second(plan.records, clients);
  const std::vector<Seen> once = run_all(plan, first);
  const std::vector<Seen> again = run_all(plan, second);
  for (std::uint32_t client = 0; client < clients; ++client) {
    EXPECT_EQ(once[client].kinds, again[client].kinds);
    EXPECT_EQ(once[client].inserted, again[client].inserted);
  }
}

}  // namespace
}  // namespace remora::workload
