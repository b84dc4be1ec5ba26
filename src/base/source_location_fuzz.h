// For the fuzz targets alone: std::source_location where the compiler lacks it, as clang does
// before version 16 with the headers of gcc. Included ahead of all that they are made of.
#pragma once

#include <version>

#ifndef __cpp_lib_source_location
#include <cstdint>

namespace std {

struct source_location {
  static constexpr source_location current(uint_least32_t line = __builtin_LINE(),
                                           const char* file = __builtin_FILE(),
                                           const char* function = __builtin_FUNCTION()) noexcept {
    source_location here;
    here.line_ = line;
    here.file_ = file;
    here.function_ = function;
    return here;
  }
  constexpr uint_least32_t line() const noexcept { return line_; }
  constexpr uint_least32_t column() const noexcept { return 0; }
  constexpr const char* file_name() const noexcept { return file_; }
  constexpr const char* function_name() const noexcept { return function_; }

  uint_least32_t line_ = 0;
  const char* file_ = "";
  const char* function_ = "";
};

}  // namespace std
#endif
