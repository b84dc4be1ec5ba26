#include "pmem/open_region.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pmem/dax_region.h"
#include "pmem/pmem_testing.h"

namespace remora {
namespace {

constexpr std::uint64_t region_bytes = 1 << 20;

// A fresh file in that place, and what opening a region on it gives.
class OpenedFile {
 public:
  OpenedFile(const std::filesystem::path& place, Media media)
      : folder_(place),
        file_(std::move(FileHandle::create(folder_.file("file"), region_bytes)).value()),
        region_(open_region(file_, media)) {}

  Result<std::unique_ptr<Region>>& result() { return region_; }
  Region& region() { return **region_; }
  const Strategy& strategy() { return (*region_)->strategy(); }
  const std::string& path() const { return file_.path(); }

 private:
  TestFolder folder_;
  FileHandle file_;
  Result<std::unique_ptr<Region>> region_;
};

// What every region promises, whatever stands behind it.
void expect_to_persist(Region& region) {
  ASSERT_EQ(region.size(), region_bytes);
  EXPECT_EQ(region.data()[0], std::byte{0});
  std::memset(region.data() + 100, 'a', 50);
  const Ticket first = region.persist(region.bytes().subspan(100, 50));
  ASSERT_TRUE(region.wait(first).ok());
  EXPECT_TRUE(region.persistent(first));
  region.copy(region.data() + 5000, as_bytes("copied"));
  const Ticket second = region.drain();
  region.request(second);
  ASSERT_TRUE(region.wait(second).ok());
  EXPECT_EQ(as_text(region.bytes().subspan(5000, 6)), "copied");
  region.flush({});
  EXPECT_TRUE(region.wait(region.drain()).ok());
  EXPECT_TRUE(region.persistent(Ticket{}));
}

void expect_reasons(const Strategy& strategy) {
  EXPECT_FALSE(strategy.method.empty());
  EXPECT_FALSE(strategy.reason.empty());
}

TEST(OpenRegion, a_file_in_memory_is_dram_by_choice_and_by_default) {
  for (const Media media : {Media::automatic, Media::dram}) {
    OpenedFile opened(memory_place(), media);
    ASSERT_TRUE(opened.result().ok()) << opened.result().status().message();
    EXPECT_EQ(opened.strategy().granularity, Granularity::cache_line);
    EXPECT_FALSE(opened.strategy().survives_power_cut);
    EXPECT_NE(opened.strategy().reason.find("tmpfs"), std::string::npos);
    expect_reasons(opened.strategy());
    expect_to_persist(opened.region());
    EXPECT_EQ(content_of(opened.path()).substr(5000, 6), "copied");
  }
}

TEST(OpenRegion, a_file_in_memory_may_be_treated_as_a_file_and_is_still_volatile) {
  OpenedFile opened(memory_place(), Media::file);
  ASSERT_TRUE(opened.result().ok()) << opened.result().status().message();
  EXPECT_EQ(opened.strategy().granularity, Granularity::page);
  EXPECT_FALSE(opened.strategy().survives_power_cut);
  expect_reasons(opened.strategy());
  expect_to_persist(opened.region());
}

TEST(OpenRegion, a_file_in_memory_is_not_dax) {
  OpenedFile opened(memory_place(), Media::dax);
  EXPECT_EQ(opened.result().code(), Code::unsupported);
}

class OpenRegionOnDisk : public testing::Test {
 protected:
  void SetUp() override {
    if (!disk_place()) {
      GTEST_SKIP() << "every folder for tests is in memory here";
    }
  }
};

TEST_F(OpenRegionOnDisk, an_ordinary_file_is_written_by_pages) {
  for (const Media media : {Media::automatic, Media::file}) {
    OpenedFile opened(*disk_place(), media);
    ASSERT_TRUE(opened.result().ok()) << opened.result().status().message();
    if (media == Media::automatic && opened.strategy().granularity != Granularity::page) {
      GTEST_SKIP() << "the disk here is a DAX file system";
    }
    EXPECT_EQ(opened.strategy().granularity, Granularity::page);
    EXPECT_TRUE(opened.strategy().survives_power_cut);
    expect_reasons(opened.strategy());
    expect_to_persist(opened.region());
    EXPECT_EQ(content_of(opened.path()).substr(100, 50), std::string(50, 'a'));
  }
}

TEST_F(OpenRegionOnDisk, a_ticket_on_pages_waits_for_its_commit) {
  OpenedFile opened(*disk_place(), Media::file);
  ASSERT_TRUE(opened.result().ok());
  const Ticket ticket = opened.region().persist(opened.region().bytes().first(1));
  EXPECT_FALSE(opened.region().persistent(ticket));
  ASSERT_TRUE(opened.region().wait(ticket).ok());
  EXPECT_TRUE(opened.region().persistent(ticket));
}

TEST_F(OpenRegionOnDisk, dax_is_refused_where_there_is_none) {
  OpenedFile opened(*disk_place(), Media::dax);
  if (opened.result().ok()) {
    GTEST_SKIP() << "the disk here is a DAX file system";
  }
  EXPECT_EQ(opened.result().code(), Code::unsupported);
  const std::string message(opened.result().status().message());
  EXPECT_NE(message.find(opened.path()), std::string::npos);
  EXPECT_NE(message.find("use media file"), std::string::npos);
}

TEST_F(OpenRegionOnDisk, dram_is_refused_on_a_disk) {
  OpenedFile opened(*disk_place(), Media::dram);
  EXPECT_EQ(opened.result().code(), Code::invalid_argument);
  const std::string message(opened.result().status().message());
  EXPECT_NE(message.find("/dev/shm"), std::string::npos);
}

// Every file and every media: either both refuse for the same reason, or both choose the same.
TEST(FindStrategy, foretells_what_opening_chooses) {
  for (const auto& place : {memory_place(), std::filesystem::temp_directory_path()}) {
    for (const Media media : {Media::automatic, Media::dax, Media::file, Media::dram}) {
      const TestFolder folder(place);
      const std::string path = folder.file("file");
      ASSERT_TRUE(FileHandle::create(path, region_bytes).ok());
      Result<Strategy> foretold = find_strategy(*FileHandle::open(path, false), media);
      Result<FileHandle> file = FileHandle::open(path, true);
      Result<std::unique_ptr<Region>> region = open_region(*file, media);
      ASSERT_EQ(foretold.code(), region.code()) << path << ' ' << to_string(media);
      EXPECT_EQ(foretold.status().message(), region.status().message());
      if (region.ok()) {
        const Strategy& chosen = (*region)->strategy();
        EXPECT_EQ(foretold->granularity, chosen.granularity);
        EXPECT_EQ(foretold->survives_power_cut, chosen.survives_power_cut);
        EXPECT_EQ(foretold->method, chosen.method);
        EXPECT_EQ(foretold->reason, chosen.reason);
      }
    }
  }
}

TEST(OpenPrivate, leaves_the_file_unchanged) {
  for (const auto& place : {memory_place(), std::filesystem::temp_directory_path()}) {
    const TestFolder folder(place);
    const std::string path = folder.file("file");
    ASSERT_TRUE(FileHandle::create(path, region_bytes).ok());
    Result<FileHandle> file = FileHandle::open(path, false);
    ASSERT_TRUE(file.ok());
    Result<std::unique_ptr<Region>> region = open_private(*file);
    ASSERT_TRUE(region.ok()) << region.status().message();
    expect_to_persist(**region);
    expect_reasons((*region)->strategy());
    EXPECT_FALSE((*region)->strategy().survives_power_cut);
    region->reset();
    EXPECT_EQ(content_of(path), std::string(region_bytes, '\0'));
  }
}

TEST(MakeDram, gives_volatile_memory_that_is_zero) {
  Result<std::unique_ptr<Region>> region = make_dram(region_bytes);
  ASSERT_TRUE(region.ok()) << region.status().message();
  EXPECT_EQ((*region)->granularity(), Granularity::cache_line);
  EXPECT_FALSE((*region)->strategy().survives_power_cut);
  expect_reasons((*region)->strategy());
  expect_to_persist(**region);
}

// Whether every page of it is there, for whoever has mapped it.
bool is_resident(Bytes memory) {
  constexpr std::size_t page_bytes = 4096;
  std::vector<unsigned char> pages(memory.size() / page_bytes);
  return mincore(memory.data(), memory.size(), pages.data()) == 0 &&
         std::ranges::all_of(pages, [](unsigned char page) { return (page & 1) != 0; });
}

TEST(MakeDram, pages_are_there_once_they_were_touched_and_still_zero) {
  Result<std::unique_ptr<Region>> region = make_dram(region_bytes);
  ASSERT_TRUE(region.ok());
  const Bytes memory = (*region)->bytes();
  touch_pages(memory, std::chrono::milliseconds{0});
  if (is_resident(memory)) {
    GTEST_SKIP() << "this kernel hands out all pages with the first";
  }
  bool is_there = false;
  for (int attempts = 0; attempts < 5 && !is_there; ++attempts) {
    touch_pages(memory, std::chrono::hours{1});
    is_there = is_resident(memory);  // unless the kernel has taken one away since
  }
  EXPECT_TRUE(is_there);
  EXPECT_TRUE(std::ranges::all_of(memory, [](std::byte byte) { return byte == std::byte{0}; }));
}

TEST(MakeDram, several_regions_live_side_by_side) {
  std::vector<std::unique_ptr<Region>> regions;
  for (int i = 0; i < 10; ++i) {
    Result<std::unique_ptr<Region>> region = make_dram(region_bytes);
    ASSERT_TRUE(region.ok());
    regions.push_back(std::move(region).value());
    expect_to_persist(*regions.back());
  }
}

// As what a client has mapped of its server: the place is free, and something else may come there.
TEST(AdoptMapping, a_place_that_was_given_up_unseen_can_be_adopted_again) {
  void* place =
      mmap(nullptr, region_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(place, MAP_FAILED);
  const Bytes bytes(static_cast<std::byte*>(place), region_bytes);
  Result<std::unique_ptr<Region>> before = adopt_mapping(bytes);
  ASSERT_TRUE(before.ok()) << before.status().message();
  Result<std::unique_ptr<Region>> after = adopt_mapping(bytes);
  ASSERT_TRUE(after.ok()) << after.status().message();
  expect_to_persist(**after);
  munmap(place, region_bytes);
}

TEST(MakeDram, can_be_mapped_by_its_backing) {
  Result<std::unique_ptr<Region>> region = make_dram(region_bytes);
  ASSERT_TRUE(region.ok());
  const std::optional<Backing> backing = (*region)->backing();
  ASSERT_TRUE(backing);
  void* there = mmap(nullptr, region_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, backing->descriptor,
                     static_cast<off_t>(backing->offset));
  ASSERT_NE(there, MAP_FAILED);
  const Bytes bytes(static_cast<std::byte*>(there), region_bytes);
  bytes[100] = std::byte{7};
  EXPECT_EQ((*region)->bytes()[100], std::byte{7});
  {
    Result<std::unique_ptr<Region>> adopted = adopt_mapping(bytes);
    ASSERT_TRUE(adopted.ok()) << adopted.status().message();
    expect_to_persist(**adopted);
  }
  EXPECT_EQ(bytes.size(), region_bytes) << "the mapping is still the caller's";
  bytes[100] = std::byte{8};
  munmap(there, region_bytes);
}

TEST(Media, names_are_read_back) {
  for (const Media media : {Media::automatic, Media::dax, Media::file, Media::dram}) {
    Result<Media> parsed = parse_media(to_string(media));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, media);
  }
}

TEST(Media, an_unknown_name_is_refused_with_the_known_ones) {
  for (const std::string_view text : {"", "Auto", "pmem", "dax "}) {
    Result<Media> parsed = parse_media(text);
    EXPECT_EQ(parsed.code(), Code::invalid_argument);
    EXPECT_NE(std::string(parsed.status().message()).find("auto, dax, file or dram"),
              std::string::npos);
  }
}

TEST(GranularityNames, are_words) {
  EXPECT_EQ(to_string(Granularity::byte), "byte");
  EXPECT_EQ(to_string(Granularity::cache_line), "cache line");
  EXPECT_EQ(to_string(Granularity::page), "page");
}

// A region becomes larger where it lies, on a disk by pages and in memory by lines.
class ExtendRegion : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam() && !disk_place()) {
      GTEST_SKIP() << "every folder for tests is in memory here";
    }
    folder_ = std::make_unique<TestFolder>(GetParam() ? *disk_place() : memory_place());
    file_ = std::make_unique<FileHandle>(
        std::move(FileHandle::create(folder_->file("file"), region_bytes)).value());
    region_ = std::move(open_region(*file_, Media::automatic)).value();
  }
  std::string content() const { return content_of(folder_->file("file")); }

  std::unique_ptr<TestFolder> folder_;
  std::unique_ptr<FileHandle> file_;
  std::unique_ptr<Region> region_;
};
INSTANTIATE_TEST_SUITE_P(Places, ExtendRegion, testing::Bool(),
                         [](const auto& place) { return place.param ? "on_disk" : "in_memory"; });

TEST_P(ExtendRegion, it_is_longer_and_begins_where_it_began) {
  std::byte* const begin = region_->data();
  begin[7] = std::byte{'a'};
  for (const std::uint64_t size : {2 * region_bytes, 64 * region_bytes}) {
    ASSERT_TRUE(file_->extend(size).ok());
    const Status status = region_->extend(size);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(region_->data(), begin);
    EXPECT_EQ(region_->size(), size);
    EXPECT_EQ(begin[7], std::byte{'a'});
    EXPECT_EQ(region_->bytes().back(), std::byte{0});
    region_->bytes().back() = std::byte{'z'};
    const Bytes all = region_->bytes();
    region_->prepare(all.last(100'000));
    ASSERT_TRUE(region_->wait(region_->persist(all)).ok());
    EXPECT_EQ(content().size(), size);
    EXPECT_EQ(content()[7], 'a');
    EXPECT_EQ(content().back(), 'z');
  }
  EXPECT_TRUE(region_->failure().ok());
}

// Sizes of files are no concern of whoever maps them: the pool in it has whole blocks.
TEST_P(ExtendRegion, a_file_that_ends_within_a_page_becomes_larger_too) {
  region_.reset();
  std::filesystem::resize_file(folder_->file("file"), region_bytes + 100);
  region_ = std::move(open_region(*file_, Media::automatic)).value();
  region_->bytes().back() = std::byte{'b'};
  ASSERT_TRUE(file_->extend(2 * region_bytes).ok());
  ASSERT_TRUE(region_->extend(2 * region_bytes).ok());
  EXPECT_EQ(region_->data()[region_bytes + 99], std::byte{'b'});
  region_->bytes().back() = std::byte{'c'};
  ASSERT_TRUE(region_->wait(region_->persist(region_->bytes())).ok());
  EXPECT_EQ(content()[region_bytes + 99], 'b');
  EXPECT_EQ(content().back(), 'c');
}

TEST_P(ExtendRegion, others_store_and_commit_meanwhile) {
  std::atomic<bool> ended = false;
  std::thread other([&] {
    std::uint64_t i = 0;
    do {  // once at least, however late it begins
      const Bytes all = region_->bytes();
      std::byte* const at = all.data() + i++ * cache_line_bytes % all.size();
      *at = std::byte{'o'};
      if (!region_->wait(region_->persist(ConstBytes(at, 1))).ok()) {
        return;
      }
    } while (!ended);
  });
  for (std::uint64_t size = 2 * region_bytes; size <= 32 * region_bytes; size *= 2) {
    EXPECT_TRUE(file_->extend(size).ok());
    EXPECT_TRUE(region_->extend(size).ok());
  }
  ended = true;
  other.join();
  EXPECT_EQ(region_->data()[0], std::byte{'o'});
  EXPECT_TRUE(region_->failure().ok());
}

TEST_P(ExtendRegion, a_region_that_finds_no_addresses_stays_as_it_is) {
  const Status status = region_->extend(std::uint64_t{1} << 46);
  EXPECT_EQ(status.code(), Code::no_space);
  EXPECT_EQ(region_->size(), region_bytes);
  expect_to_persist(*region_);
}

TEST_P(ExtendRegion, what_is_cut_off_of_the_new_part_is_noticed) {
  ASSERT_TRUE(file_->extend(2 * region_bytes).ok());
  ASSERT_TRUE(region_->extend(2 * region_bytes).ok());
  if (region_->granularity() != Granularity::page) {
    GTEST_SKIP() << "who touches what is gone learns of it";
  }
  const Ticket ticket = region_->persist(region_->bytes().last(8));
  std::filesystem::resize_file(folder_->file("file"), region_bytes);
  EXPECT_EQ(region_->wait(ticket).code(), Code::io_error);
}

TEST(MakeDram, memory_without_a_file_stays_as_long_as_it_is) {
  const auto region = std::move(make_dram(region_bytes)).value();
  EXPECT_FALSE(region->extend(2 * region_bytes).ok());
  EXPECT_EQ(region->size(), region_bytes);
}

}  // namespace
}  // namespace remora
