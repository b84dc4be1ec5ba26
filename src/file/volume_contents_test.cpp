#include <algorithm>

#include "file/file_testing.h"

namespace remora::file {
namespace {

class VolumeContents : public VolumeTest {};
REMORA_FILE_ON_MEDIA(VolumeContents);

TEST_P(VolumeContents, are_there_after_a_cut_once_synced) {
  const Number file = make("file");
  write(file, 0, "synced");
  fsync(file);
  write(file, 6, " and more");
  EXPECT_EQ(read(file), "synced and more");
  cut();
  EXPECT_EQ(read(file), "synced");
  EXPECT_EQ(attributes(file).size, 6u);
  write(file, 10, "x");
  EXPECT_EQ(read(file), std::string("synced\0\0\0\0x", 11)) << "what lay behind the size is gone";
  checked();
}

// The round under way began before the second write, which changes no size.
TEST_P(VolumeContents, that_are_written_during_a_round_are_synced_by_the_next) {
  const Number file = make("file");
  write(file, 0, "one");
  ASSERT_TRUE(volume_->fsync(file).ok());
  write(file, 0, "two");
  fsync(file);
  cut();
  EXPECT_EQ(read(file), "two");
}

TEST_P(VolumeContents, of_holes_are_zeros) {
  const Number file = make("file");
  write(file, 100'000, "end");
  EXPECT_EQ(attributes(file).blocks, 1u);
  EXPECT_EQ(read(file, 0, 99'999), std::string(99'999, '\0'));
  write(file, 50'000, "middle");
  fsync(file);
  EXPECT_EQ(read(file, 49'998, 10), std::string("\0\0middle\0\0", 10));
  EXPECT_EQ(attributes(file).blocks, 2u);
  EXPECT_EQ(*volume_->extent_count(file), 2u);
  checked();
}

TEST_P(VolumeContents, that_are_cut_off_never_come_back) {
  const Number file = make("file");
  write(file, 0, std::string(10'000, 'x'));
  fsync(file);
  ASSERT_TRUE(volume_->truncate(root(), file, 5).ok());
  EXPECT_EQ(attributes(file).blocks, 1u);
  ASSERT_TRUE(volume_->truncate(root(), file, 9'000).ok());
  EXPECT_EQ(read(file), "xxxxx" + std::string(8'995, '\0'));
  fsync(file);
  cut();
  EXPECT_EQ(read(file), "xxxxx" + std::string(8'995, '\0'));
  checked();
}

TEST_P(VolumeContents, may_have_holes_punched) {
  const Number file = make("file");
  std::string model(40'000, 'x');
  write(file, 0, model);
  const auto punch = [&](std::uint64_t offset, std::uint64_t size) {
    ASSERT_TRUE(volume_->punch(root(), file, offset, size).ok());
    std::fill_n(model.begin() + static_cast<std::ptrdiff_t>(offset),
                std::min<std::uint64_t>(size, model.size() - offset), '\0');
    EXPECT_EQ(read(file), model);
  };
  punch(5'000, 10'000);
  fsync(file);
  punch(20'000, 100);
  punch(24'576, 4'096);
  punch(30'000, 100'000);
  EXPECT_EQ(attributes(file).size, 40'000u);
  fsync(file);
  reopen();
  EXPECT_EQ(read(file), model);
  checked();
}

TEST_P(VolumeContents, may_have_room_made_for_them) {
  const Number file = make("file");
  ASSERT_TRUE(volume_->allocate(root(), file, 0, 100'000, true).ok());
  EXPECT_EQ(attributes(file).size, 0u);
  EXPECT_EQ(attributes(file).blocks, 25u);
  ASSERT_TRUE(volume_->allocate(root(), file, 0, 100'000, false).ok());
  EXPECT_EQ(attributes(file).size, 100'000u);
  EXPECT_EQ(read(file), std::string(100'000, '\0'));
  EXPECT_EQ(volume_->allocate(root(), file, 0, 0, false).error(), EINVAL);
  EXPECT_EQ(volume_->allocate(root(), file, format::largest_size, 1, false).error(), EFBIG);
  fsync(file);
  EXPECT_EQ(*volume_->extent_count(file), 1u);
  ASSERT_TRUE(volume_->truncate(root(), file, 1).ok());
  EXPECT_EQ(attributes(file).blocks, 1u);
  checked();
}

TEST_P(VolumeContents, that_are_appended_lie_in_one_extent) {
  const Number file = make("file");
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(volume_->append(root(), file, as_bytes(std::string(1'000, 'a'))).ok());
    if (i % 10 == 0) {
      fsync(file);
    }
  }
  fsync(file);
  EXPECT_EQ(attributes(file).size, 200'000u);
  EXPECT_EQ(*volume_->extent_count(file), 1u);
  const Outcome<ConstBytes> piece = volume_->map(file, 5'000);
  ASSERT_TRUE(piece.ok());
  EXPECT_EQ(piece->size(), 195'000u);
  checked();
}

TEST_P(VolumeContents, are_moved_together) {
  const Number one = make("one");
  const Number other = make("other");
  std::string model;
  for (int i = 0; i < 12; ++i) {
    const std::string piece(4'096, static_cast<char>('a' + i));
    write(one, static_cast<std::uint64_t>(i) * 4'096, piece);
    write(other, static_cast<std::uint64_t>(i) * 4'096, "other");
    fsync(one);
    model += piece;
  }
  fsync(other);
  EXPECT_EQ(*volume_->extent_count(one), 12u);
  const Outcome<std::uint64_t> moved = volume_->defragment(one, 100);
  ASSERT_TRUE(moved.ok()) << moved.error();
  EXPECT_GE(*moved, 6u);
  EXPECT_LT(*volume_->extent_count(one), 5u);
  EXPECT_EQ(read(one), model);
  reopen();
  EXPECT_EQ(read(one), model);
  checked();
}

TEST_P(VolumeContents, of_long_files_are_cut_in_steps) {
  const Number file = make("file");
  const Number other = make("other");
  for (std::uint64_t i = 0; i < 60; ++i) {
    write(file, i * 8'192, "x");
    fsync(file);
    write(other, i * 8'192, "y");
    fsync(other);
  }
  EXPECT_EQ(*volume_->extent_count(file), 60u);
  ASSERT_TRUE(volume_->truncate(root(), file, 10'000).ok());
  EXPECT_EQ(attributes(file).blocks, 2u);
  EXPECT_EQ(checked().orphans, 0u);
  ASSERT_TRUE(volume_->unlink(root(), top(), "other").ok());
  const CheckReport report = checked();
  EXPECT_EQ(report.orphans, 0u);
  EXPECT_EQ(report.data_blocks, 2u);
}

TEST_P(VolumeContents, fill_the_pool_and_deleting_works_then) {
  std::vector<std::string> names;
  int error = 0;
  for (int i = 0; error == 0; ++i) {
    names.push_back("f" + std::to_string(i));
    const Outcome<Made> made = volume_->create(root(), top(), names.back(), 0644);
    error = made.error();
    if (made.ok()) {
      error = volume_->write(root(), made->number, 0, as_bytes(std::string(100'000, 'x'))).error();
      ASSERT_TRUE(volume_->fsync(made->number).ok());
    }
  }
  EXPECT_EQ(error, ENOSPC);
  cut();
  for (const std::string& name : names) {
    const int removed = volume_->unlink(root(), top(), name).error();
    EXPECT_TRUE(removed == 0 || removed == ENOENT) << name << ": " << removed;
  }
  EXPECT_EQ(checked().files, 0u);
  make("another");
}

// An fsx of its own: one file, and every operation on bytes, against a string.
TEST_P(VolumeContents, agree_with_a_string) {
  const Number file = make("file");
  const Number other = make("other");
  std::string model;
  Random random(17);
  for (int step = 0; step < 4'000; ++step) {
    const std::uint64_t offset = random.below(random.chance(1, 3) ? 60'000 : model.size() + 1);
    const std::uint64_t size = random.between(1, random.chance(1, 4) ? 20'000 : 700);
    switch (random.below(10)) {
      case 0:
      case 1:
      case 2: {
        const std::string text(size, static_cast<char>('a' + step % 26));
        write(file, offset, text);
        model.resize(std::max(model.size(), offset + size), '\0');
        model.replace(offset, size, text);
        write(other, offset, "o");
        break;
      }
      case 3: {
        const std::uint64_t end = random.below(70'000);
        ASSERT_TRUE(volume_->truncate(root(), file, end).ok());
        model.resize(end, '\0');
        break;
      }
      case 4:
        ASSERT_TRUE(volume_->punch(root(), file, offset, size).ok());
        if (offset < model.size()) {
          const std::uint64_t within_model = std::min<std::uint64_t>(size, model.size() - offset);
          model.replace(offset, within_model, within_model, '\0');
        }
        break;
      case 5: {
        const bool keep = random.chance(1, 2);
        ASSERT_TRUE(volume_->allocate(root(), file, offset, size, keep).ok());
        model.resize(keep ? model.size() : std::max(model.size(), offset + size), '\0');
        break;
      }
      case 6:
        fsync(file);
        break;
      case 7:
        volume_->tend();
        break;
      case 8:
        if (random.chance(1, 10)) {
          ASSERT_TRUE(volume_->defragment(file, 20).ok());
        } else {
          region_.commit();
        }
        break;
      default:
        if (random.chance(1, 30)) {
          checked();
          reopen();
        }
    }
    ASSERT_EQ(attributes(file).size, model.size()) << step;
    ASSERT_EQ(read(file, offset, size),
              offset < model.size() ? model.substr(offset, size) : std::string())
        << step;
  }
  EXPECT_EQ(read(file), model);
  checked();
}

}  // namespace
}  // namespace remora::file
