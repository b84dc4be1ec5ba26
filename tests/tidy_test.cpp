// Lint as a unit test: the rules of tests/tidy/ over the whole tree. REMORA_SOURCE_ROOT and
// REMORA_BUILD_FOLDER come from the build.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/tidy/layers.h"
#include "tests/tidy/rules.h"
#include "tests/tidy/source.h"
#include "tests/tidy/systems.h"
#include "tests/tidy/words.h"

namespace remora::tidy {
namespace {

namespace fs = std::filesystem;

const fs::path root = fs::canonical(REMORA_SOURCE_ROOT);
const fs::path build_folder = REMORA_BUILD_FOLDER;

const std::vector<Source>& tree() {
  static const std::vector<Source> sources = load_tree(root);
  return sources;
}

void report(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    ADD_FAILURE_AT(finding.path.c_str(), static_cast<int>(finding.line)) << finding.message;
  }
}

std::string name_in_tree(const fs::path& file) {
  return fs::weakly_canonical(file).lexically_relative(root).generic_string();
}

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::set<std::string> compiled_files() {
  std::set<std::string> compiled;
  std::ifstream in(build_folder / "compile_commands.json");
  if (!in) {
    ADD_FAILURE() << "no compile_commands.json in the build folder: configure with a preset, or "
                     "with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON";
    return compiled;
  }
  for (const nlohmann::json& command : nlohmann::json::parse(in)) {
    const fs::path file = command.at("file").get<std::string>();
    compiled.insert(name_in_tree(file));
    if (file.parent_path().filename() == "Unity") {
      for (const std::string& part : merged_files(content_of(file))) {
        compiled.insert(name_in_tree(part));
      }
    }
  }
  return compiled;
}

TEST(Tidy, finds_the_tree) {
  std::set<std::string> paths;
  for (const Source& source : tree()) {
    paths.insert(source.path);
  }
  for (const char* path : {"ARCHITECTURE.md", "CMakeLists.txt", "src/base/bytes.h",
                           "tests/tidy_test.cpp", "scripts/format", "run"}) {
    EXPECT_TRUE(paths.contains(path)) << path;
  }
}

TEST(Tidy, layers_include_only_downward) {
  Layers layers;
  for (const Source& source : tree()) {
    if (source.path == "ARCHITECTURE.md") {
      layers = parse_layers(source.text);
    }
  }
  ASSERT_GT(layers.size(), 10u) << "ARCHITECTURE.md lost its ```layers block";
  for (const Source& source : tree()) {
    if (source.is_cpp()) {
      report(check_includes(source, layers));
    }
  }
}

TEST(Tidy, clocks_threads_and_chance_stay_in_their_places) {
  for (const Source& source : tree()) {
    report(check_capabilities(source));
  }
}

// Fuzz targets need clang; scripts/fuzz builds what the list beside them names.
bool is_fuzz_target(const Source& source) {
  const fs::path path = root / source.path;
  if (path.parent_path().filename() != "fuzz") {
    return false;
  }
  std::ifstream list(path.parent_path() / "CMakeLists.txt");
  const std::string text{std::istreambuf_iterator<char>(list), {}};
  return text.find(path.stem().string()) != std::string::npos;
}

TEST(Tidy, every_source_is_built) {
  const std::set<std::string> compiled = compiled_files();
  if (compiled.empty()) {
    return;
  }
  for (const Source& source : tree()) {
    if (!is_fuzz_target(source)) {
      report(check_built(source, compiled));
    }
  }
}

TEST(Tidy, text_is_clean) {
  for (const Source& source : tree()) {
    report(check_text(source));
  }
}

TEST(Tidy, words_are_plain) {
  for (const Source& source : tree()) {
    report(check_words(source));
  }
}

TEST(Tidy, helpers_pass_their_site_on) {
  for (const Source& source : tree()) {
    report(check_sites(source));
  }
}

TEST(Tidy, systems_list_their_faults_and_sources_that_exist) {
  report(check_faults_are_listed(tree()));
  report(check_listed_sources(tree()));
}

TEST(Tidy, nothing_is_awaited_inside_a_choice) {
  for (const Source& source : tree()) {
    report(check_awaits(source));
  }
}

}  // namespace
}  // namespace remora::tidy
