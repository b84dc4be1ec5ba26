#include "pmem/read_ahead.h"

#include <gtest/gtest.h>

#include <vector>

namespace remora {
namespace {

TEST(ReadAhead, ChangesNothingOfMemoryWithNoFileBehindIt) {
  std::vector<std::byte> bytes(3 * page_bytes, std::byte{7});
  read_ahead(ConstBytes(bytes).subspan(5, 2 * page_bytes));
  read_ahead({});
  EXPECT_EQ(bytes, std::vector<std::byte>(3 * page_bytes, std::byte{7}));
}

}  // namespace
}  // namespace remora
