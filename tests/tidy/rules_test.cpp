// Each rule on small samples, good and bad: a rule that cannot fail proves nothing.
#include "tests/tidy/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/tidy/layers.h"

namespace remora::tidy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::size_t> lines(const std::vector<Finding>& findings) {
  std::vector<std::size_t> numbers;
  for (const Finding& finding : findings) {
    numbers.push_back(finding.line);
  }
  return numbers;
}

const Layers layers = {"base/", "fabric/", "fabric/nic/", "sim/", "tests/"};

std::vector<Finding> includes(std::string path, std::string text) {
  return check_includes(Source(std::move(path), std::move(text)), layers);
}

TEST(Layers, are_read_from_the_fenced_block_alone) {
  EXPECT_THAT(parse_layers("x/  no\n```layers\na/    one\nb/c/  two\n```\nd/  no\n"),
              ElementsAre("a/", "b/c/"));
  EXPECT_THAT(parse_layers("```\na/  one\n```\n"), IsEmpty());
}

TEST(Layers, include_downward_and_within) {
  EXPECT_THAT(includes("src/fabric/a.h", "#include \"base/b.h\"\n#include \"fabric/c.h\"\n"),
              IsEmpty());
  EXPECT_THAT(includes("src/fabric/nic/a.h", "#include \"fabric/c.h\"\n"), IsEmpty());
  EXPECT_THAT(includes("sim/a.h", "#include \"fabric/c.h\"\n#include <tests/outside.h>\n"),
              IsEmpty());
  EXPECT_THAT(includes("src/base/a.h", "// #include \"sim/b.h\"\n"), IsEmpty());
}

TEST(Layers, may_not_include_upward) {
  const auto findings = includes("src/base/a.h", "\n#include \"fabric/b.h\"\n");
  ASSERT_THAT(lines(findings), ElementsAre(2));
  EXPECT_THAT(findings[0].message, HasSubstr("base/ includes upward from fabric/"));
  EXPECT_THAT(lines(includes("src/fabric/a.h", "#include \"fabric/nic/b.h\"")), ElementsAre(1));
  EXPECT_THAT(lines(includes("src/base/a_test.cpp", "# include \"sim/b.h\"")), ElementsAre(1));
}

TEST(Layers, must_list_every_folder_and_every_include) {
  EXPECT_THAT(lines(includes("src/new/a.h", "")), ElementsAre(1));
  EXPECT_THAT(lines(includes("src/base/a.h", "#include \"b.h\"")), ElementsAre(1));
}

std::vector<std::size_t> capabilities(std::string path, std::string text) {
  return lines(check_capabilities(Source(std::move(path), std::move(text))));
}

TEST(Capabilities, are_refused_in_protocol_code) {
  for (const char* use :
       {"auto t = std::chrono::steady_clock::now();", "clock_gettime(CLOCK_MONOTONIC, &t);",
        "std::thread t;", "std::jthread t;", "auto f = std::async(g);",
        "pthread_create(&t, 0, f, 0);", "std::random_device d;", "getrandom(p, 8, 0);",
        "int r = rand();", "int r = std::rand();", "usleep(5);",
        "std::this_thread::sleep_for(1ms);", "#include <thread>", "srand(time(nullptr));"}) {
    EXPECT_THAT(capabilities("src/kv/a.cpp", std::string("\n") + use + "\n"), ElementsAre(2))
        << use;
  }
}

TEST(Capabilities, are_not_seen_in_comments_strings_and_longer_names) {
  EXPECT_THAT(capabilities("src/kv/a.cpp",
                           "// std::thread\nlog(\"rand()\"); operand(1); "
                           "random.rand(); Random random(7); x_clock_gettime_x();\n"),
              IsEmpty());
}

TEST(Capabilities, are_granted_in_the_exempt_places) {
  for (const char* path :
       {"src/runtime/a.cpp", "src/pmem/file_commit.cpp", "src/fabric/nic/wire_udp.cpp",
        "src/kv/store_test.cpp", "tests/a.cpp", "bench/a.cpp"}) {
    EXPECT_THAT(capabilities(path, "std::thread t;"), IsEmpty()) << path;
  }
  EXPECT_THAT(capabilities("src/fabric/nic/requester.cpp", "std::thread t;"), ElementsAre(1));
  EXPECT_THAT(capabilities("src/pmem/pool.cpp", "std::thread t;"), ElementsAre(1));
  EXPECT_THAT(capabilities("sim/a.cpp", "std::thread t;"), ElementsAre(1));
}

TEST(Built, complains_of_a_source_that_no_target_compiles) {
  const std::set<std::string> compiled = {"src/a.cpp"};
  EXPECT_THAT(check_built(Source("src/a.cpp", ""), compiled), IsEmpty());
  EXPECT_THAT(check_built(Source("src/b.h", ""), compiled), IsEmpty());
  EXPECT_THAT(lines(check_built(Source("src/b.cpp", ""), compiled)), ElementsAre(1));
}

std::vector<std::size_t> text(std::string path, std::string content) {
  return lines(check_text(Source(std::move(path), std::move(content))));
}

TEST(Text, accepts_a_calm_file) {
  EXPECT_THAT(text("a.h", "// A header.\n#pragma once\n\nint f();\n"), IsEmpty());
  EXPECT_THAT(text("a.cpp", "int private_parts = 1;  // for nowhere\n"), IsEmpty());
}

TEST(Text, refuses_tabs_and_trailing_spaces) {
  EXPECT_THAT(text("a.cpp", "a\n\tb\n"), ElementsAre(2));
  EXPECT_THAT(text("a.cpp", "a \nb\n"), ElementsAre(1));
  EXPECT_THAT(text("scripts/a", "a\r\n"), ElementsAre(1));
}

TEST(Text, refuses_promises_of_later_work) {
  EXPECT_THAT(text("a.cpp", std::string("// TO") + "DO: finish\n"), ElementsAre(1));
  EXPECT_THAT(text("a.md", std::string("\nGood enough for ") + "now.\n"), ElementsAre(2));
  EXPECT_THAT(text("CMakeLists.txt", std::string("# FIX") + "ME\n"), ElementsAre(1));
}

TEST(Text, refuses_a_header_without_pragma_once) {
  EXPECT_THAT(text("a.h", "// #pragma once\nint f();\n"), ElementsAre(1));
}

TEST(Text, refuses_more_than_500_lines_of_code) {
  std::string content(500, '\n');
  EXPECT_THAT(text("a.cpp", content), IsEmpty());
  content += '\n';
  EXPECT_THAT(text("a.cpp", content), ElementsAre(500));
  EXPECT_THAT(text("a.md", content), IsEmpty());
}

TEST(Text, refuses_access_by_redefinition) {
  EXPECT_THAT(text("a.cpp", "#define private public\n"), ElementsAre(1));
  EXPECT_THAT(text("a.cpp", "\n#  define  protected public\n"), ElementsAre(2));
  EXPECT_THAT(text("a.cpp", "#define PRIVATE 1\n// #define private\n"), IsEmpty());
}

std::vector<std::size_t> sites(std::string content) {
  return lines(check_sites(Source("src/pmem/a.cpp", std::move(content))));
}

TEST(Sites, must_be_passed_on) {
  EXPECT_THAT(sites("void f(Region& r, Site site) {\n  r.flush(x, site);\n  r.drain();\n}\n"),
              ElementsAre(3));
  EXPECT_THAT(sites("T f(R* r, Site site = Site::current()) {\n  return r->persist(g(x));\n}\n"),
              ElementsAre(2));
}

TEST(Sites, are_content_when_every_call_has_them) {
  EXPECT_THAT(sites("T f(Site site) {\n  r.flush(span(a, b), site);\n  return r.drain(site);\n}\n"),
              IsEmpty());
  EXPECT_THAT(sites("void f(Site site);\nvoid g() { r.flush(x); }\n"), IsEmpty());
  EXPECT_THAT(sites("void f(Site site) { std::copy(a, b, c); log_.push_back(site); }\n"),
              IsEmpty());
}

}  // namespace
}  // namespace remora::tidy
