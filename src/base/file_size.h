// The size of a regular file, for those who ask again and again while it is written to.
//
// fstat tells the file's times as well, and a kernel that has told somebody a time (Linux 6.13 and
// later) gives the next change a time of its own: the inode is dirty then after every write, and
// every msync or fdatasync of the file writes it beside the data. This asks for no times.
#pragma once

#include <cstdint>
#include <optional>

namespace remora {

// Nothing: this is no regular file, or the system does not say.
std::optional<std::uint64_t> file_size(int descriptor);

}  // namespace remora
