#include "file/format.h"

#include <gtest/gtest.h>

#include <bit>
#include <string>

#include "file/file_testing.h"
#include "file/nodes.h"

namespace remora::file {
namespace {

using format::Words;

std::string hex(ConstBytes bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    constexpr char digits[] = "0123456789abcdef";
    text += digits[std::to_integer<unsigned>(byte) >> 4];
    text += digits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

// The worked example of docs/formats/file.md.
TEST(FileFormat, is_as_its_document_shows) {
  struct Example {
    format::NodeHead head;
    format::EntryHead entry;
  };
  Example example{{format::node_magic, format::NodeKind::extents, 0, 1, 65536, 65664, 56, 0},
                  {0, 131072, 3, 0, 0}};
  example.head.checksum =
      format::checksum_of(ConstBytes(reinterpret_cast<const std::byte*>(&example), 56));
  EXPECT_EQ(hex(ConstBytes(reinterpret_cast<const std::byte*>(&example), 56)),
            "4e4f44450200010000000100000000008000010000000000380000000872fa84"
            "000000000000000000000200000000000300000000000000");
  format::Inode inode{};
  inode.mode = S_IFREG | 0640;
  inode.links = 1;
  inode.uid = inode.gid = 1000;
  inode.size = 10'000;
  inode.tree = 65664;
  inode.blocks = 3;
  inode.atime_ns = 5;
  inode.mtime_ns = 6;
  inode.ctime_ns = 7;
  inode.born_ns = 8;
  EXPECT_EQ(format::check_of(std::bit_cast<Words>(inode), 65536), 0x18e9fc397u);
}

TEST(FileFormat, gives_names_keys_that_any_system_takes_as_positions) {
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t key = format::key_of("name" + std::to_string(i), 7);
    EXPECT_GE(key, format::names_of_a_hash);
    EXPECT_LT(key, std::uint64_t{1} << 63);
    EXPECT_EQ(key % format::names_of_a_hash, 0u);
  }
  EXPECT_NE(format::key_of("a", 1), format::key_of("a", 2));
}

class VolumeDamage : public VolumeTest {
 protected:
  VolumeDamage() : VolumeTest(1 << 20) {}

  // The places and sizes of what carries a checksum.
  std::vector<std::pair<Offset, std::size_t>> summed() {
    std::vector<std::pair<Offset, std::size_t>> places;
    pool_->for_each_object([&](Offset place, std::uint64_t /*size_bytes*/) {
      const auto magic = load<std::uint32_t>(pool_->object(place).data());
      const auto* head = reinterpret_cast<format::NodeHead*>(pool_->object(place).data());
      const bool node = magic == format::node_magic && head->place == place;
      if (node || pool_->object(place).size() == sizeof(format::Inode)) {
        places.emplace_back(place, node ? head->bytes : sizeof(format::Inode));
      }
    });
    return places;
  }
};
INSTANTIATE_TEST_SUITE_P(media, VolumeDamage, testing::Values(Granularity::cache_line),
                         medium_name);

// One bit after another is wrong: it is noticed where a checksum is, nothing crashes, and no file
// has a byte that is not its own.
TEST_P(VolumeDamage, of_a_bit_is_noticed_and_the_rest_is_readable) {
  std::map<std::string, std::string> files;
  for (int i = 0; i < 12; ++i) {
    const std::string folder = "d" + std::to_string(i % 3);
    const Outcome<Number> known = volume_->walk(root(), folder);
    const Number in = known.ok() ? *known : make_directory(folder);
    const std::string name = "f" + std::to_string(i);
    const Number file = make(name, in);
    const std::string text(static_cast<std::size_t>(i) * 1'700, static_cast<char>('a' + i));
    write(file, 0, text + "x");
    fsync(file);
    ASSERT_TRUE(volume_->set_attribute(root(), file, "user.a", name).ok());
    files[folder + "/" + name] = text + "x";
  }
  ASSERT_TRUE(volume_->symlink(root(), top(), "link", "d1").ok());
  ASSERT_TRUE(volume_->close().ok());
  const auto places = summed();
  ASSERT_GT(places.size(), 30u);
  volume_.reset();
  ASSERT_TRUE(pool_->close().ok());
  pool_.reset();
  const std::vector<std::byte> image(region_.bytes().begin(), region_.bytes().end());
  Random random(3);
  std::size_t noticed = 0;
  constexpr std::size_t flips = 600;
  for (std::size_t flip = 0; flip < flips; ++flip) {
    std::ranges::copy(image, region_.bytes().begin());
    const bool metadata = flip % 2 == 0;
    const auto& [place, size] = places[random.below(places.size())];
    const Offset at = metadata ? place + random.below(size) : random.below(image.size());
    region_.data()[at] ^= std::byte{1} << random.below(8);
    Result<std::unique_ptr<Pool>> pool = Pool::open(region_, "the pool");
    Result<std::unique_ptr<Volume>> volume =
        pool.ok() ? Volume::open(**pool) : Result<std::unique_ptr<Volume>>(pool.status());
    if (!volume.ok()) {
      ++noticed;
      EXPECT_FALSE(volume.status().message().empty());
      continue;
    }
    bool unreadable = false;
    for (const auto& [path, text] : files) {
      const Outcome<Number> number = (*volume)->walk(root(), path);
      std::string found(text.size() + 10, '?');
      const Outcome<std::uint64_t> got =
          number.ok() ? (*volume)->read(*number, 0, std::as_writable_bytes(std::span(found)), 0)
                      : Outcome<std::uint64_t>(number.failure());
      if (!got.ok()) {
        unreadable = true;
        continue;
      }
      found.resize(*got);
      std::size_t different = found.size() == text.size() ? 0 : 100;
      for (std::size_t i = 0; i < std::min(found.size(), text.size()); ++i) {
        different += found[i] == text[i] ? 0u : 1u;
      }
      EXPECT_LE(different, metadata ? 0u : 1u) << path << ", bit at " << at;
    }
    const bool problems = !(*volume)->check().problems.empty();
    noticed += problems ? 1 : 0;
    EXPECT_TRUE(problems || !(metadata || unreadable)) << "the bit at " << at << " went unnoticed";
    if (!(*volume)->damage().empty()) {
      const int error = (*volume)->create(root(), (*volume)->root(), "new", 0644).error();
      EXPECT_TRUE(error == EROFS || error == EIO) << error;
    }
  }
  EXPECT_GE(noticed, flips / 2);
}

}  // namespace
}  // namespace remora::file
