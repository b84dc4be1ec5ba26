#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"
#include "rpc/calls/faults.h"
#include "rpc/calls/log_reader.h"
#include "rpc/calls/log_writer.h"

namespace remora::rpc::calls {
namespace {

constexpr std::uint64_t ring_bytes = log_format::smallest_ring_bytes;

class CallLog : public testing::TestWithParam<Form> {
 protected:
  // WRITEs the entry, and stores its operator.
  void deliver(const LogWriter::Entry& entry) {
    const std::uint64_t at = writer_.offset_of(entry.begin);
    std::copy_n(copy_.begin() + static_cast<std::ptrdiff_t>(at), entry.end - entry.begin,
                ring_.begin() + static_cast<std::ptrdiff_t>(at));
    if (GetParam() == Form::ordered) {
      store(&ring_[at], entry.word);
    }
  }
  LogWriter::Entry send(std::string_view text) {
    const LogWriter::Entry entry = writer_.append(5, as_bytes(text), writer_.next() - 1);
    deliver(entry);
    return entry;
  }
  std::string read() {
    const std::optional<LogEntry> entry = reader_.next();
    return entry ? std::string(as_text(entry->data)) : "nothing";
  }

  const LogEpoch epoch_{.session = 11, .epoch = 2, .form = GetParam(), .window = 8, .first = 40};
  std::vector<std::byte> copy_ = std::vector<std::byte>(ring_bytes);
  std::vector<std::byte> ring_ = std::vector<std::byte>(ring_bytes);
  LogWriter writer_{epoch_, copy_};
  LogReader reader_{epoch_, ring_, 0, 40};
};

INSTANTIATE_TEST_SUITE_P(forms, CallLog, testing::Values(Form::checksum, Form::ordered),
                         [](const auto& form) {
                           return form.param == Form::ordered ? "ordered" : "checksum";
                         });

TEST_P(CallLog, gives_back_what_was_sent_in_order) {
  EXPECT_FALSE(reader_.is_ready());
  send("one");
  send("");
  EXPECT_TRUE(reader_.is_ready());
  EXPECT_EQ(read(), "one");
  const std::optional<LogEntry> second = reader_.next();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->sequence, 41u);
  EXPECT_EQ(second->acknowledged, 40u);
  EXPECT_EQ(second->method, 5u);
  EXPECT_EQ(read(), "nothing");
}

TEST_P(CallLog, goes_round_for_ever_within_its_ring) {
  Random random(3);
  std::uint64_t laps = 0;
  for (int i = 0; i < 2'000; ++i) {
    const std::string text(random.below(900), static_cast<char>('a' + i % 26));
    ASSERT_TRUE(writer_.has_room(text.size()));
    const LogWriter::Entry entry = send(text);
    laps = entry.begin / ring_bytes;
    EXPECT_LE(writer_.offset_of(entry.begin) + entry.end - entry.begin, ring_bytes);
    ASSERT_EQ(read(), text) << i;
    ASSERT_TRUE(writer_.freed(reader_.position(), reader_.sequence()));
  }
  EXPECT_GT(laps, 100u);
}

TEST_P(CallLog, has_no_room_beyond_the_window_or_the_ring) {
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(writer_.has_room(1));
    send("x");
  }
  EXPECT_FALSE(writer_.has_room(1));
  EXPECT_EQ(read(), "x");
  EXPECT_TRUE(writer_.freed(reader_.position(), reader_.sequence()));
  EXPECT_TRUE(writer_.has_room(1));
  EXPECT_FALSE(writer_.has_room(ring_bytes));
  EXPECT_FALSE(writer_.is_possible(ring_bytes / 4));
}

TEST_P(CallLog, believes_no_impossible_head_of_the_receiver) {
  send("x");
  EXPECT_FALSE(writer_.freed(writer_.tail() + cache_line_bytes, 41));
  EXPECT_FALSE(writer_.freed(0, 42));
  EXPECT_TRUE(writer_.freed(writer_.tail(), 41));
  EXPECT_FALSE(writer_.freed(0, 41));
}

TEST_P(CallLog, stops_at_the_first_hole) {
  send("one");
  const LogWriter::Entry lost = writer_.append(5, as_bytes("two"), 40);
  send("three");
  EXPECT_EQ(read(), "one");
  EXPECT_EQ(read(), "nothing");
  deliver(lost);
  EXPECT_EQ(read(), "two");
  EXPECT_EQ(read(), "three");
}

// Every word of an entry is missing in turn.
TEST_P(CallLog, counts_no_entry_of_which_a_word_is_missing) {
  const std::string text(300, 'z');
  const LogWriter::Entry entry = send(text);
  const std::uint64_t used = log_format::end_of(GetParam(), text.size());
  // In the ordered form nothing vouches for the data but the order.
  const std::uint64_t checked =
      GetParam() == Form::ordered ? log_format::data_at(Form::ordered) : used;
  for (std::uint64_t at = 0; at < checked; at += word_bytes) {
    const auto word = load<std::uint64_t>(&ring_[at]);
    store(&ring_[at], std::uint64_t{0});
    EXPECT_EQ(word != 0, !LogReader(epoch_, ring_, 0, 40).next().has_value()) << at;
    store(&ring_[at], word);
  }
  EXPECT_EQ(entry.end, log_format::footprint(GetParam(), text.size()));
  EXPECT_EQ(read(), text);
}

TEST_P(CallLog, counts_no_entry_of_another_session_epoch_or_place) {
  send("one");
  for (LogEpoch other : {LogEpoch{12, 2, GetParam(), 8, 40}, LogEpoch{11, 1, GetParam(), 8, 40}}) {
    EXPECT_FALSE(LogReader(other, ring_, 0, 40).next());
  }
  EXPECT_FALSE(LogReader(epoch_, ring_, ring_bytes, 40).next());
  EXPECT_FALSE(LogReader(epoch_, ring_, 0, 41).next());
  EXPECT_TRUE(LogReader(epoch_, ring_, 0, 40).next());
}

TEST_P(CallLog, believes_no_size_that_leads_out_of_the_ring) {
  send("one");
  log_format::EntryHead head;
  const std::uint64_t at = log_format::head_at(GetParam());
  std::memcpy(&head, &ring_[at], sizeof head);
  for (const std::uint32_t size : {1025u, 4096u, UINT32_MAX - 40, UINT32_MAX}) {
    head.data_bytes = size;
    std::memcpy(&ring_[at], &head, sizeof head);
    if (GetParam() == Form::ordered) {
      store(&ring_[0], log_format::ordered_word({11, 2, 0}, head));
    }
    EXPECT_FALSE(reader_.is_ready());
    EXPECT_FALSE(reader_.next());
  }
}

TEST(CallLogFaults, lets_torn_data_count_when_checksums_are_ignored) {
  const LogEpoch epoch{.session = 1, .epoch = 1, .window = 8};
  std::vector<std::byte> ring(ring_bytes);
  LogWriter writer(epoch, ring);
  writer.append(1, as_bytes("a call"), 0);
  ring[log_format::data_at(Form::checksum)] = std::byte{'b'};
  EXPECT_FALSE(LogReader(epoch, ring, 0, 1).next());
  EXPECT_TRUE(LogReader(epoch, ring, 0, 1, Faults(faults::checksum_ignored)).next());
}

}  // namespace
}  // namespace remora::rpc::calls
