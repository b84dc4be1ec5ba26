// Files and folders for tests.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/folder_testing.h"

namespace remora {

// The whole content; empty when there is no such file.
std::string read_text(const std::filesystem::path& path);

// Replaces the content, or makes the file.
void write_text(const std::filesystem::path& path, std::string_view text);

// Changes the bytes at `offset` of a file that has at least as many.
void overwrite(const std::filesystem::path& path, std::uint64_t offset, std::string_view bytes);

}  // namespace remora
