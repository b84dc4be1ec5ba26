#include "kv/efactory/cleaning_stages.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace remora::kv::efactory {
namespace {

TEST(CleaningStages, are_shown_by_the_document_as_the_code_has_them) {
  std::ifstream file(REMORA_SOURCE "/docs/engines/efactory.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  ASSERT_FALSE(text.empty());
  for (const CleaningRow& row : cleaning_table) {
    const std::string line = "\n| " + std::string(row.name) + " | " + std::string(row.readers) +
                             " | " + std::string(row.writers) + " | " + std::string(row.cut) +
                             " |\n";
    EXPECT_NE(text.find(line), std::string::npos)
        << "docs/engines/efactory.md must have the row" << line;
  }
}

}  // namespace
}  // namespace remora::kv::efactory
