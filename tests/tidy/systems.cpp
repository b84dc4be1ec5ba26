#include "tests/tidy/systems.h"

#include <algorithm>
#include <regex>
#include <set>
#include <string>

namespace remora::tidy {
namespace {

bool is_product_header(const Source& source) {
  return source.is_header() && source.path.starts_with("src/");
}

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/') + 1);
}

// The names whose addresses arrays of the header hold.
std::set<std::string> listed_in(const Source& header) {
  static const std::regex array(R"(constexpr std::array\s+\w+\s*=\s*\{([^}]*)\})");
  static const std::regex member(R"(&(?:\w+::)*(\w+))");
  std::set<std::string> names;
  const std::string& code = header.code;
  for (std::sregex_iterator list(code.begin(), code.end(), array), end; list != end; ++list) {
    const std::string members = (*list)[1];
    for (std::sregex_iterator one(members.begin(), members.end(), member); one != end; ++one) {
      names.insert((*one)[1]);
    }
  }
  return names;
}

bool is_test(const std::string& path) {
  return path.ends_with("_test.cpp") || path.ends_with("_testing.h");
}

}  // namespace

std::vector<Finding> check_faults_are_listed(const std::vector<Source>& tree) {
  static const std::regex declared(R"(constexpr Fault\s+(\w+)\s*(?:=\s*)?\{)");
  std::vector<Finding> findings;
  for (const Source& header : tree) {
    if (!is_product_header(header)) {
      continue;
    }
    const std::string& code = header.code;
    for (std::sregex_iterator fault(code.begin(), code.end(), declared), end; fault != end;
         ++fault) {
      const std::string folder = folder_of(header.path);
      const bool is_listed = std::ranges::any_of(tree, [&](const Source& other) {
        return is_product_header(other) && other.path.starts_with(folder) &&
               listed_in(other).contains((*fault)[1]);
      });
      if (!is_listed) {
        findings.push_back({header.path, line_at(code, static_cast<std::size_t>(fault->position())),
                            "no list holds the fault " + (*fault)[1].str() +
                                ": name it in the std::array of the system that makes it"});
      }
    }
  }
  return findings;
}

std::vector<Finding> check_listed_sources(const std::vector<Source>& tree) {
  static const std::regex path(R"re((#include )?"((?:src|lab)/[\w/.-]*)")re");
  std::vector<Finding> findings;
  for (const Source& source : tree) {
    const bool is_read = source.is_cpp() && !is_test(source.path) &&
                         (source.path.starts_with("src/") || source.path.starts_with("lab/"));
    if (!is_read) {
      continue;
    }
    const std::string& text = source.text;
    for (std::sregex_iterator match(text.begin(), text.end(), path), end; match != end; ++match) {
      const std::string named = (*match)[2];
      const bool is_there = std::ranges::any_of(tree, [&named](const Source& other) {
        return named.ends_with('/') ? other.path.starts_with(named) : other.path == named;
      });
      if (!(*match)[1].matched && !is_there) {
        findings.push_back({source.path, line_at(text, static_cast<std::size_t>(match->position())),
                            "there is no " + named +
                                ": say where it went, or nobody answers for its persist calls"});
      }
    }
  }
  return findings;
}

}  // namespace remora::tidy
