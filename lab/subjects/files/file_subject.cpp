#include "lab/subjects/files/file_subject.h"

#include <array>

#include "file/faults.h"
#include "lab/crash/nested_lives.h"
#include "lab/subjects/files/file_life.h"

namespace remora::lab {
namespace {

constexpr std::array<LifeLevel, 4> file_levels = {{
    {24, {4, 4}, 1, 110},
    {40, {3, 3}, 2, 30},
    {60, {2, 2}, 2, 12},
    {0, {0, 0}, 0, 0},
}};

constexpr std::string_view file_sources[] = {"src/file/"};

constexpr Descriptor file_descriptor = {
    .name = "file",
    .kind = SystemKind::part,
    .about = "files: names, bytes, orphans, long changes and recovery",
    .unsummed = "the bytes of files carry no checksum: damage there is not noticed",
    .paper = "Yang et al., NSDI '20",
    .faults = file::faults::all,
    .sources = file_sources};

}  // namespace

const Descriptor& FileSubject::descriptor() const {
  return file_descriptor;
}

std::unique_ptr<CrashWorker> FileSubject::worker() const {
  return std::make_unique<NestedLives<FileLife>>(file_levels);
}

}  // namespace remora::lab
