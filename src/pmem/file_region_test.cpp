#include "pmem/file_region.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <memory>

#include "pmem/file_handle.h"
#include "pmem/pmem_testing.h"
#include "pmem/pool.h"

namespace remora {
namespace {

constexpr std::uint64_t mapped_bytes = pool_format::smallest_pool_bytes;

// A pool in a file on a disk that can be told to fail.
class FileRegionTest : public testing::Test {
 protected:
  Mapping map() {
    Mapping mapping;
    mapping.bytes =
        Bytes(static_cast<std::byte*>(mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE,
                                           MAP_SHARED, file_->descriptor(), 0)),
              mapped_bytes);
    mapping.unmap_bytes = true;
    return mapping;
  }

  const TestFolder folder_{std::filesystem::temp_directory_path()};
  Result<FileHandle> file_ = FileHandle::create(folder_.file("file"), mapped_bytes);
  int error_ = 0;
  std::unique_ptr<FileRegion> region_ = std::make_unique<FileRegion>(
      map(), file_->descriptor(), Strategy{Granularity::page, true, "msync", "a test"},
      [this](std::byte*, std::size_t) { return error_; });
};

TEST_F(FileRegionTest, one_sync_serves_many_tickets) {
  const Ticket first = region_->persist(region_->bytes().first(8));
  const Ticket second = region_->persist(region_->bytes().subspan(9000, 8));
  ASSERT_TRUE(region_->wait(first).ok());
  EXPECT_TRUE(region_->persistent(second));
  EXPECT_EQ(region_->syncs(), 1u);
}

TEST_F(FileRegionTest, a_sealed_transaction_takes_one_sync) {
  Result<std::unique_ptr<Pool>> pool = Pool::create(*region_, {});
  ASSERT_TRUE(pool.ok());
  const Offset offset = *(*pool)->reserve(5000);
  Transaction transaction;
  ASSERT_TRUE(transaction.publish_sealed(offset, 5000).ok());
  ASSERT_TRUE(transaction.set_root("r", offset).ok());
  const std::uint64_t before = region_->syncs();
  Result<Ticket> ticket = (*pool)->commit(transaction);
  ASSERT_TRUE(ticket.ok());
  EXPECT_EQ(region_->syncs(), before);
  ASSERT_TRUE((*pool)->wait(*ticket).ok());
  EXPECT_EQ(region_->syncs(), before + 1);
}

TEST_F(FileRegionTest, a_disk_that_fails_closes_the_pool_for_good) {
  Result<std::unique_ptr<Pool>> pool = Pool::create(*region_, {});
  ASSERT_TRUE(pool.ok());
  const Offset offset = *(*pool)->reserve(64);
  Transaction transaction;
  ASSERT_TRUE(transaction.publish_sealed(offset, 64).ok());
  Result<Ticket> ticket = (*pool)->commit(transaction);
  ASSERT_TRUE(ticket.ok());
  error_ = EIO;
  EXPECT_EQ((*pool)->wait(*ticket).code(), Code::io_error);
  EXPECT_FALSE((*pool)->persistent(*ticket));
  error_ = 0;
  EXPECT_EQ((*pool)->wait(*ticket).code(), Code::io_error);
  EXPECT_EQ((*pool)->reserve(64).code(), Code::io_error);
  EXPECT_EQ((*pool)->commit(Transaction{}).code(), Code::io_error);
}

TEST_F(FileRegionTest, a_pool_cannot_be_made_on_a_disk_that_fails) {
  error_ = EIO;
  EXPECT_EQ(Pool::create(*region_, {}).code(), Code::io_error);
}

// msync has nothing to say of pages that went with the end of the file.
TEST_F(FileRegionTest, nothing_becomes_persistent_in_a_file_that_was_cut_short) {
  const Ticket before = region_->persist(region_->bytes().first(8));
  ASSERT_TRUE(region_->wait(before).ok());
  const Ticket ticket = region_->persist(region_->bytes().last(8));
  std::filesystem::resize_file(folder_.file("file"), mapped_bytes - page_bytes);
  const Status status = region_->wait(ticket);
  EXPECT_EQ(status.code(), Code::io_error);
  EXPECT_NE(text_of(status).find("a part of the pool's file is gone"), std::string::npos);
  EXPECT_FALSE(region_->persistent(ticket));
  EXPECT_TRUE(region_->persistent(before));
  EXPECT_TRUE(region_->lost());
  EXPECT_EQ(text_of(region_->failure()), text_of(status));
}

TEST_F(FileRegionTest, a_region_that_failed_goes_away_quietly) {
  error_ = EIO;
  const Ticket ticket = region_->persist(region_->bytes().first(8));
  region_->request(ticket);
  EXPECT_FALSE(region_->wait(ticket).ok());
  region_.reset();
  EXPECT_EQ(*file_->size_bytes(), mapped_bytes);
}

}  // namespace
}  // namespace remora
