// For the tests of this layer: a volume in memory with a medium behind it, and short verbs.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <map>
#include <memory>
#include <string>

#include "base/random.h"
#include "file/volume.h"
#include "pmem/pmem_testing.h"
#include "pmem/pool.h"

namespace remora::file {

// So that trees are deep.
inline constexpr NodeLimits small_nodes{640, 256};
inline constexpr std::uint64_t test_seed = 0x1234;

class VolumeTest : public testing::TestWithParam<Granularity> {
 protected:
  explicit VolumeTest(std::uint64_t size_bytes = 8 << 20, NodeLimits limits = small_nodes)
      : region_(size_bytes, GetParam()) {
    pool_ = std::move(Pool::create(region_, no_uuid)).value();
    VolumeOptions options{test_seed, 0777, limits};
    volume_ = std::move(Volume::make(*pool_, root(), options)).value();
  }

  Caller root() { return {0, 0, {}, ++now_}; }
  Caller user(std::uint32_t uid) { return {uid, uid, {}, ++now_}; }
  Number top() { return volume_->root(); }

  Number make(const std::string& name, Number in = 0) {
    const Outcome<Made> made = volume_->create(root(), in == 0 ? top() : in, name, 0644);
    EXPECT_TRUE(made.ok()) << name << ": " << made.error();
    return made->number;
  }
  Number make_directory(const std::string& name, Number in = 0) {
    const Outcome<Made> made = volume_->make_directory(root(), in == 0 ? top() : in, name, 0755);
    EXPECT_TRUE(made.ok()) << name << ": " << made.error();
    return made->number;
  }
  void write(Number file, std::uint64_t offset, const std::string& text) {
    const Outcome<Written> written = volume_->write(root(), file, offset, as_bytes(text));
    ASSERT_TRUE(written.ok()) << written.error();
    EXPECT_EQ(written->bytes, text.size());
  }
  std::string read(Number file, std::uint64_t offset = 0, std::size_t size = 1 << 20) {
    std::string text(size, '?');
    const Outcome<std::uint64_t> got =
        volume_->read(file, offset, std::as_writable_bytes(std::span(text.data(), text.size())), 0);
    EXPECT_TRUE(got.ok()) << got.error();
    text.resize(got.ok() ? *got : 0);
    return text;
  }
  void fsync(Number file) {
    const Outcome<Receipt> receipt = volume_->fsync(file);
    ASSERT_TRUE(receipt.ok()) << receipt.error() << " " << volume_->damage();
    ASSERT_TRUE(volume_->wait(*receipt).ok());
    EXPECT_TRUE(volume_->persistent(*receipt));
  }
  Attributes attributes(Number file) { return *volume_->attributes(file); }
  std::map<std::string, Number> entries(Number directory) {
    std::map<std::string, Number> found;
    EXPECT_TRUE(volume_
                    ->read_directory(root(), directory, 0,
                                     [&](const DirectoryEntry& entry) {
                                       EXPECT_FALSE(found.contains(entry.name)) << entry.name;
                                       found[entry.name] = entry.number;
                                       return true;
                                     })
                    .ok());
    return found;
  }
  // Everything synced, and sound.
  CheckReport checked() {
    EXPECT_TRUE(volume_->sync().ok());
    const CheckReport report = volume_->check();
    EXPECT_TRUE(report.problems.empty())
        << report.problems.size() << " problems, first: " << report.problems.front();
    return report;
  }
  void open() {
    pool_ = std::move(Pool::open(region_, "the pool")).value();
    Result<std::unique_ptr<Volume>> volume = Volume::open(*pool_);
    ASSERT_TRUE(volume.ok()) << volume.status().message();
    volume_ = std::move(volume).value();
  }
  // An orderly end and a new beginning.
  void reopen() {
    EXPECT_TRUE(volume_->close().ok());
    volume_.reset();
    EXPECT_TRUE(pool_->close().ok());
    open();
  }
  // The power is cut: what is not persistent is gone.
  void cut() {
    volume_.reset();
    pool_.reset();
    region_.cut();
    open();
  }

  FakeRegion region_;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<Volume> volume_;
  std::uint64_t now_ = 1'000'000'000;
};

inline std::string medium_name(const testing::TestParamInfo<Granularity>& medium) {
  return medium.param == Granularity::page ? "page" : "cache_line";
}

#define REMORA_FILE_ON_MEDIA(suite) \
  INSTANTIATE_TEST_SUITE_P(         \
      media, suite, testing::Values(Granularity::cache_line, Granularity::page), medium_name)

}  // namespace remora::file
