// The mapped wire between processes that are stopped, killed, or belong to somebody else.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "pmem/file_handle.h"
#include "pmem/open_region.h"
#include "tests/fabric/party.h"
#include "tests/fabric/temporary_folder.h"

namespace remora::fabric::contract {
namespace {

constexpr std::uint64_t short_ns = 30'000'000;

// A client in a process of its own: links up, is granted the memory, then does what it is told.
int be_client(const Child::Talk& talk, const std::string& path,
              nic::joined::MappedWireOptions options, const std::function<int(Party&)>& act) {
  Party client(std::move(options));
  if (!talk.put(client.introduction()) ||
      !client.loop.block_on(client.wire->wire().connect(path)).ok()) {
    return 10;
  }
  const auto server = talk.get<Introduction>();
  return server && client.connect(*server) ? act(client) : 11;
}

class MappedProcesses : public testing::Test {
 protected:
  // The server's side of be_client.
  bool introduce(Party& server, const Child& child) {
    const auto client = child.talk().get<Introduction>();
    return client && server.run_until([&] { return server.wire->wire().links() == 1; }) &&
           server.connect(*client) && child.talk().put(server.introduction());
  }
  bool await_grant(Party& server) {
    return server.run_until([&] { return server.wire->grants() != 0; });
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_.path() + "/socket";
};

// Stops in the middle of its first operation.
nic::joined::MappedWireOptions stopping_inside() {
  return {.initiator = {.inside = [stopped = false]() mutable {
            if (!std::exchange(stopped, true)) {
              raise(SIGSTOP);
            }
          }}};
}

int write_once_mapped(Party& client) {
  if (!client.await_mapping()) {
    return 12;
  }
  std::memset(client.at(0), 0x77, 64);
  return client.run(Opcode::write, 0, 64) == WorkStatus::success && client.short_cut() == 1 ? 0
                                                                                            : 13;
}

TEST_F(MappedProcesses, a_region_outlasts_whoever_is_in_the_middle_of_using_it) {
  pid_t told = 0;
  Party server({.target = {.stall_ns = short_ns,
                           .on_stall = [&](const nic::HostIdentity& who) { told = who.pid; }}});
  ASSERT_TRUE(server.wire->wire().listen(path_).ok());
  Child child([&](const Child::Talk& talk) {
    return be_client(talk, path_, stopping_inside(), write_once_mapped);
  });
  ASSERT_TRUE(introduce(server, child));
  ASSERT_TRUE(await_grant(server));
  ASSERT_TRUE(child.await_stop());
  server.region.reset();  // it cannot be told to let go: it is ended
  EXPECT_EQ(told, child.pid());
  const int status = child.await_end();
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_EQ(server.memory->bytes()[0], std::byte{0});
}

TEST_F(MappedProcesses, nobody_is_ended_who_moves_in_time) {
  bool told = false;
  Party server({.target = {.stall_ns = 60'000'000'000,
                           .on_stall = [&](const nic::HostIdentity&) { told = true; }}});
  ASSERT_TRUE(server.wire->wire().listen(path_).ok());
  Child child([&](const Child::Talk& talk) {
    return be_client(talk, path_, stopping_inside(), write_once_mapped);
  });
  ASSERT_TRUE(introduce(server, child));
  ASSERT_TRUE(await_grant(server));
  ASSERT_TRUE(child.await_stop());
  // Somebody lets it go on while the region goes.
  const Child friendly([pid = child.pid()](const Child::Talk&) {
    usleep(50'000);
    return kill(pid, SIGCONT);
  });
  server.region.reset();
  EXPECT_FALSE(told);
  EXPECT_EQ(server.memory->bytes()[0], std::byte{0x77}) << "it was waited for";
  EXPECT_EQ(child.await_end(), 0);
}

TEST_F(MappedProcesses, a_failed_queue_pair_is_quiet_when_the_peer_has_come_out) {
  Party server;
  ASSERT_TRUE(server.wire->wire().listen(path_).ok());
  Child child([&](const Child::Talk& talk) {
    return be_client(talk, path_, stopping_inside(), [&](Party& client) {
      const int first = write_once_mapped(client);
      (void)talk.put('x');
      // Its rights are gone: the next goes by the wire, and fails.
      std::memset(client.at(128), 0x55, 64);
      const bool failed = client.run(Opcode::write, 128, 64) != WorkStatus::success;
      return first != 0 ? first : client.short_cut() == 1 && failed ? 0 : 14;
    });
  });
  ASSERT_TRUE(introduce(server, child));
  ASSERT_TRUE(await_grant(server));
  ASSERT_TRUE(child.await_stop());
  server.qp->fail();
  EXPECT_EQ(server.wire->grants(), 0u);
  EXPECT_FALSE(server.qp->quiet());
  EXPECT_TRUE(server.loop.run_for(short_ns) == RunState::finished);
  EXPECT_FALSE(server.qp->quiet()) << "time alone frees nothing";
  EXPECT_EQ(*server.at(0), std::byte{0});
  child.signal(SIGCONT);
  ASSERT_TRUE(child.talk().get<char>());
  EXPECT_TRUE(server.qp->quiet());
  EXPECT_EQ(*server.at(0), std::byte{0x77});
  EXPECT_TRUE(server.run_until([&] { return server.wire->wire().links() == 0; }));
  EXPECT_EQ(child.await_end(), 0);
  EXPECT_EQ(*server.at(128), std::byte{0});
}

TEST_F(MappedProcesses, a_failed_queue_pair_is_quiet_when_the_peer_is_dead) {
  Party server;
  ASSERT_TRUE(server.wire->wire().listen(path_).ok());
  Child child([&](const Child::Talk& talk) {
    return be_client(talk, path_, stopping_inside(), write_once_mapped);
  });
  ASSERT_TRUE(introduce(server, child));
  ASSERT_TRUE(await_grant(server));
  ASSERT_TRUE(child.await_stop());
  // The link goes, and what it may have left behind is not forgotten with it.
  server.wire->wire().cut_off(*server.wire->wire().link_to(server.peer.address.gid));
  EXPECT_TRUE(server.run_until([&] { return server.wire->wire().links() == 0; }));
  EXPECT_EQ(server.qp->state(), QpState::error);
  EXPECT_FALSE(server.qp->quiet());
  child.signal(SIGKILL);
  (void)child.await_end();
  EXPECT_TRUE(server.qp->quiet());
  EXPECT_EQ(*server.at(0), std::byte{0});
}

TEST_F(MappedProcesses, the_last_word_of_a_write_appears_last) {
  for (const std::size_t size : {64u, 1024u, 4096u + 24u}) {
    Party server;
    const std::string path = path_ + std::to_string(size);
    ASSERT_TRUE(server.wire->wire().listen(path).ok());
    constexpr std::uint64_t rounds = 3000;
    Child child([&](const Child::Talk& talk) {
      return be_client(talk, path, {}, [&](Party& client) {
        if (!client.await_mapping()) {
          return 12;
        }
        for (std::uint64_t i = 1; i <= rounds; ++i) {
          for (std::size_t at = 0; at < size; at += word_bytes) {
            store(client.at(8 + at), i);
          }
          if (client.run(Opcode::write, 8, size) != WorkStatus::success) {
            return 13;
          }
        }
        return client.short_cut() == rounds ? 0 : 14;
      });
    });
    ASSERT_TRUE(introduce(server, child));
    ASSERT_TRUE(await_grant(server));
    const auto word = [&](std::size_t at) {
      return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(server.at(8 + at)))
          .load(std::memory_order_acquire);
    };
    const std::uint64_t end_ns = server.loop.after(20'000'000'000);
    for (std::uint64_t seen = 0; seen < rounds && server.loop.now_ns() < end_ns;) {
      seen = word(size - word_bytes);
      for (std::size_t at = 0; at < size; at += word_bytes) {
        ASSERT_GE(word(at), seen) << "at " << at << " of " << size;
      }
    }
    EXPECT_EQ(word(size - word_bytes), rounds);
    EXPECT_EQ(child.await_end(), 0);
  }
}

TEST_F(MappedProcesses, atomics_are_indivisible_between_the_short_way_and_the_wire) {
  Party server;
  ASSERT_TRUE(server.wire->wire().listen(path_).ok());
  constexpr std::uint64_t rounds = 5000;
  Child child([&](const Child::Talk& talk) {
    return be_client(talk, path_, {}, [&](Party& client) {
      if (!client.await_mapping()) {
        return 12;
      }
      for (std::uint64_t i = 0; i < rounds; ++i) {
        SendWork work = client.request(Opcode::fetch_add, 0, word_bytes);
        work.operand = 1;
        if (client.run(work) != WorkStatus::success) {
          return 13;
        }
      }
      return client.short_cut() == rounds ? 0 : 14;
    });
  });
  ASSERT_TRUE(introduce(server, child));
  ASSERT_TRUE(await_grant(server));
  // What the responder does for a peer that goes by the wire.
  for (std::uint64_t i = 0; i < rounds; ++i) {
    server.dma.fetch_add(0, server.at(0), 1);
  }
  EXPECT_EQ(child.await_end(), 0);
  EXPECT_EQ(load<std::uint64_t>(server.at(0)), 2 * rounds);
}

TEST_F(MappedProcesses, a_dead_server_is_noticed) {
  Child child([&](const Child::Talk& talk) {
    Party server;
    const bool listens = server.wire->wire().listen(path_).ok();
    if (!listens || !talk.put(server.introduction())) {
      return 1;
    }
    const auto client = talk.get<Introduction>();
    while (!server.wire->wire().link_to(client->address.gid)) {
      server.loop.turn();
    }
    (void)server.connect(*client);
    while (true) {
      server.loop.turn();
    }
  });
  const auto server = child.talk().get<Introduction>();
  ASSERT_TRUE(server);
  Party client;
  ASSERT_TRUE(child.talk().put(client.introduction()));
  ASSERT_TRUE(client.loop.block_on(client.wire->wire().connect(path_)).ok());
  ASSERT_TRUE(client.connect(*server));
  ASSERT_TRUE(client.await_mapping());
  EXPECT_EQ(client.run(Opcode::write, 0, 64), WorkStatus::success);
  EXPECT_EQ(client.short_cut(), 1u);
  child.signal(SIGKILL);
  (void)child.await_end();
  EXPECT_TRUE(client.run_until([&] { return client.qp->state() == QpState::error; }));
  EXPECT_FALSE(client.wire->is_mapped(client.qp->number(), server->memory.key));
  EXPECT_EQ(client.run(Opcode::write, 0, 64), WorkStatus::flushed);
}

TEST_F(MappedProcesses, another_user_goes_by_the_rings) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root can become another user";
  }
  ASSERT_EQ(chmod(folder_.path().c_str(), 0755), 0);
  Party server;
  ASSERT_TRUE(server.wire->wire().listen(path_, 0666).ok());
  Child child([&](const Child::Talk& talk) {
    if (setuid(65534) != 0) {
      return 9;
    }
    return be_client(talk, path_, {}, [](Party& client) {
      std::memset(client.at(0), 0x42, 64);
      for (int i = 0; i < 100; ++i) {
        if (client.run(Opcode::write, 0, 64) != WorkStatus::success) {
          return 12;
        }
      }
      return client.short_cut() == 0 ? 0 : 13;
    });
  });
  ASSERT_TRUE(introduce(server, child));
  EXPECT_TRUE(server.run_until([&] { return server.wire->wire().links() == 0; }));
  EXPECT_EQ(child.await_end(), 0);
  EXPECT_EQ(*server.at(63), std::byte{0x42});
}

// A client that was stopped in the middle of a store could make it in a pool that the next server
// has opened.
TEST_F(MappedProcesses, a_pool_is_not_opened_while_a_client_of_a_dead_server_has_it_mapped) {
  const std::string pool = folder_.path() + "/pool";
  Child child([&](const Child::Talk& talk) {
    Result<FileHandle> file = FileHandle::create(pool, party_bytes);
    if (!file.ok()) {
      return 1;
    }
    Result<std::unique_ptr<Region>> region = open_region(*file, Media::automatic);
    if (!region.ok()) {
      return 2;
    }
    Party server({}, party_access, std::move(*region));
    if (!server.wire->wire().listen(path_).ok() || !talk.put(server.introduction())) {
      return 3;
    }
    const auto client = talk.get<Introduction>();
    while (!server.wire->wire().link_to(client->address.gid)) {
      server.loop.turn();
    }
    (void)server.connect(*client);
    while (true) {
      server.loop.turn();
    }
  });
  const auto server = child.talk().get<Introduction>();
  ASSERT_TRUE(server);
  Party client;
  ASSERT_TRUE(child.talk().put(client.introduction()));
  ASSERT_TRUE(client.loop.block_on(client.wire->wire().connect(path_)).ok());
  ASSERT_TRUE(client.connect(*server));
  ASSERT_TRUE(client.await_mapping());
  EXPECT_EQ(FileHandle::open(pool, true).code(), Code::in_use) << "the server has it";
  child.signal(SIGKILL);
  (void)child.await_end();
  const Result<FileHandle> refused = FileHandle::open(pool, true);
  EXPECT_EQ(refused.code(), Code::in_use);
  EXPECT_NE(refused.status().message().find("client"), std::string::npos)
      << refused.status().message();
  EXPECT_TRUE(client.run_until([&] { return client.qp->state() == QpState::error; }));
  EXPECT_TRUE(FileHandle::open(pool, true).ok()) << "it let go when it noticed";
}

}  // namespace
}  // namespace remora::fabric::contract
