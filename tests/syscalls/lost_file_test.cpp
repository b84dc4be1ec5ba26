// The pool's file is cut short under the real server, and under clients that have it mapped: the
// store has failed for good, and says so; nobody is ended by a signal, and nobody is told of zeros.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <remora/signals.h>
#include <remora/store.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "tests/syscalls/served.h"

namespace remora::syscalls {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr int keys = 200;
constexpr std::size_t value_bytes = 8000;

std::string key_of(int i) {
  return "key" + std::to_string(i);
}

std::string value_of(int i) {
  return std::string(value_bytes, static_cast<char>('a' + i % 26));
}

// On a disk, and in memory.
class LostFile : public testing::TestWithParam<bool> {
 protected:
  LostFile() : folder_(GetParam() ? REMORA_DISK_FOLDER : "/dev/shm") {}

  // With values all over the pool.
  void serve(const std::vector<std::string>& more) {
    served_ = std::make_unique<Served>(folder_, "", more);
    ASSERT_TRUE(served_->wait_until_it_serves()) << served_->process().err();
    RedisClient client(served_->redis_port());
    for (int i = 0; i < keys; ++i) {
      ASSERT_EQ(client.ask("SET " + key_of(i) + " " + value_of(i)), "+OK");
    }
  }
  void cut_short() { std::filesystem::resize_file(folder_.file("a.pool"), 128 << 10); }
  Outcome command(std::vector<std::string> words) {
    words.insert(words.begin(), REMORA_COMMAND);
    words.insert(words.end(), {"--socket", served_->socket()});
    return run_process(words);
  }
  // Each key that is asked for has its value, or a failure; how many failed.
  int failed_gets() {
    int failed = 0;
    for (int i = 0; i < keys; i += 20) {
      const Outcome got = command({"get", key_of(i)});
      EXPECT_THAT(got.exit_status, AnyOf(0, 3)) << got.err;
      if (got.exit_status == 0) {
        EXPECT_EQ(got.out, value_of(i)) << "of " << key_of(i);
      }
      failed += got.exit_status == 3 ? 1 : 0;
    }
    return failed;
  }

  const TestFolder folder_;
  std::unique_ptr<Served> served_;
};

INSTANTIATE_TEST_SUITE_P(Places, LostFile, testing::Bool(),
                         [](const auto& place) { return place.param ? "on_disk" : "in_memory"; });

TEST_P(LostFile, ends_the_server_with_status_3_and_a_word) {
  serve({});
  cut_short();
  RedisClient client(served_->redis_port());
  std::string reply;
  for (int i = 0; i < keys && (reply.empty() || reply[0] != '-'); ++i) {
    reply = client.ask("SET " + key_of(i) + " " + value_of(i));
    ASSERT_NE(reply, "silence");
  }
  EXPECT_THAT(reply,
              StartsWith("-MISCONF the store has failed: a part of the pool's file is gone"));
  ASSERT_TRUE(served_->ended_within(60));
  EXPECT_EQ(served_->process().wait(), 3) << served_->process().err();
  EXPECT_THAT(served_->process().err(), HasSubstr("a part of the pool's file is gone"));
  const Outcome again = run_process({REMORA_COMMAND, "pool", "check", folder_.file("a.pool")});
  EXPECT_EQ(again.exit_status, 3) << again.err;  // it is too short for what its header says
}

TEST_P(LostFile, answers_everybody_with_the_failure_when_it_stays) {
  serve({"--on-failure", "stay"});
  EXPECT_EQ(failed_gets(), 0);
  cut_short();
  RedisClient client(served_->redis_port());
  EXPECT_THAT(client.ask("GET " + key_of(keys - 1)), StartsWith("-MISCONF"));
  for (int i = 0; i < keys; ++i) {
    EXPECT_THAT(client.ask("GET " + key_of(i)), StartsWith("-MISCONF"));
  }
  EXPECT_THAT(client.ask("SET new value"), StartsWith("-MISCONF"));
  EXPECT_THAT(client.ask("DEL " + key_of(1)), StartsWith("-MISCONF"));
  EXPECT_EQ(client.ask("PING"), "+PONG");
  EXPECT_EQ(failed_gets(), keys / 20);
  EXPECT_EQ(command({"put", "new", "value"}).exit_status, 3);
  const Outcome health = command({"stat", "health"});
  EXPECT_EQ(health.out, "failed\n") << health.err;
  EXPECT_THAT(command({"stat", "failure"}).out, HasSubstr("a part of the pool's file is gone"));
  EXPECT_THAT(served_->process().err(), HasSubstr("the store has failed"));
  EXPECT_EQ(served_->stop(), 3) << served_->process().err();
}

TEST_P(LostFile, native_clients_that_find_it_first_are_told) {
  serve({"--on-failure", "stay"});
  cut_short();
  const int failed = failed_gets();
  EXPECT_GT(failed, 0);
  const Outcome put = command({"put", "--persistent", "new", std::string(100'000, 'x')});
  EXPECT_EQ(put.exit_status, 3) << put.err;
  EXPECT_EQ(command({"stat", "health"}).out, "failed\n");
  EXPECT_EQ(served_->stop(), 3) << served_->process().err();
}

// 0 when a store that was sound says in words that it is not; 1 when it told of zeros.
int read_until_it_fails(Store& store, int ready) {
  bool is_first = true;
  for (;;) {
    for (int i = 0; i < keys; ++i) {
      const Expected<std::string> value = store.get(key_of(i));
      if (!value) {
        return 0;
      }
      if (*value != value_of(i)) {
        return 1;
      }
    }
    if (std::exchange(is_first, false)) {
      (void)!::write(ready, "x", 1);
    }
  }
}

// Work that goes on in a process of its own, and has begun when this returns; its exit status, or
// the signal that ended it.
template <typename Work>
class Child {
 public:
  explicit Child(Work work) {
    int pair[2];
    REMORA_CHECK(::pipe(pair) == 0, "no pipe for a test");
    pid_ = ::fork();
    if (pid_ == 0) {
      ::_exit(work(pair[1]));
    }
    ::close(pair[1]);
    char letter = 0;
    has_begun_ = ::read(pair[0], &letter, 1) == 1;
    ::close(pair[0]);
  }
  bool has_begun() const { return has_begun_; }
  int wait() const {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  pid_t pid_ = -1;
  bool has_begun_ = false;
};

// A program that has the pool mapped and is in the middle of its work.
TEST_P(LostFile, a_program_that_reads_is_told) {
  serve({"--on-failure", "exit"});
  const Child reader([&](int ready) {
    Expected<Store> store = Store::connect(served_->socket());
    return survive_lost_files().ok() && store ? read_until_it_fails(*store, ready) : 2;
  });
  ASSERT_TRUE(reader.has_begun());
  cut_short();
  EXPECT_EQ(reader.wait(), 0);
  RedisClient client(served_->redis_port());
  (void)client.ask("SET new value");
  ASSERT_TRUE(served_->ended_within(60));
  EXPECT_EQ(served_->process().wait(), 3) << served_->process().err();
}

TEST_P(LostFile, a_program_with_the_store_inside_is_told) {
  const std::string path = folder_.file("b.pool");
  const Child owner([&](int ready) {
    OpenOptions options;
    options.pool_bytes = 4 << 20;
    Expected<Store> store = Store::open(path, options);
    if (!survive_lost_files().ok() || !store) {
      return 2;
    }
    for (int i = 0; i < keys; ++i) {
      if (!store->put(key_of(i), value_of(i), Durability::persistent)) {
        return 3;
      }
    }
    const int status = read_until_it_fails(*store, ready);
    return status != 0 || store->put("new", "value", Durability::persistent) ? 1 : 0;
  });
  ASSERT_TRUE(owner.has_begun());
  std::filesystem::resize_file(path, 128 << 10);
  EXPECT_EQ(owner.wait(), 0);
}

// What was stored before the file was cut is not persistent, though msync has nothing to say.
TEST_P(LostFile, nothing_is_acknowledged_that_went_with_the_end) {
  serve({"--resp-durability", "persistent", "--on-failure", "stay"});
  RedisClient client(served_->redis_port());
  cut_short();
  EXPECT_THAT(client.ask("SET new " + value_of(1)), StartsWith("-MISCONF"));
  EXPECT_EQ(served_->stop(), 3) << served_->process().err();
}

}  // namespace
}  // namespace remora::syscalls
