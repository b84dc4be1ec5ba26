// Library: the papers, their claims and their figures, as they are built into the program.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lab/figures/claim.h"
#include "lab/figures/embedded.h"
#include "lab/figures/figure.h"
#include "lab/figures/judge.h"

namespace remora::figures {

struct Paper {
  std::string id;
  std::string system;
  std::string title;
  std::string venue;
  std::vector<std::string> figures;  // what its claims may name
  std::vector<std::string> designs;  // how subjects begin that are designs of the paper
  Profile profile;                   // empty until a file of figures gives it
};

class Library {
 public:
  // The files that are built in. They are tested, so a failure here is a broken build.
  static Result<Library> built_in();
  // Fails with invalid_argument where a file does not parse; a claim names a paper or figure that
  // is none; a figure reads a claim that is not of it, or by a reading that does not suit its kind;
  // a claim of a figure that is here is read by nobody; a finding or remark is about no claim.
  static Result<Library> parse(const std::vector<EmbeddedText>& texts);

  const std::vector<Paper>& papers() const { return papers_; }
  const std::vector<Claim>& claims() const { return claims_; }
  const std::vector<Figure>& figures() const { return figures_; }

  // Null where there is none.
  const Paper* paper(std::string_view id) const;
  const Claim* claim(std::string_view id) const;
  const Figure* figure(std::string_view paper, std::string_view id) const;
  // Empty where there is none.
  Comment comment(const std::string& claim) const;

  // "" is all figures, "efactory" all of one paper, "efactory-9a" one figure, "efactory-9" those
  // whose ids are 9 and a letter. Fails with not_found, and says what there is.
  Result<std::vector<const Figure*>> select(std::string_view name) const;
  // The claims that are about these figures, in the order of the file.
  std::vector<const Claim*> claims_of(const std::vector<const Figure*>& figures) const;

 private:
  Status read(const EmbeddedText& text);
  Status check() const;
  Status check_claims() const;
  Status check_readings() const;

  std::vector<Paper> papers_;
  std::vector<Claim> claims_;
  std::vector<Figure> figures_;
  std::map<std::string, Profile> profiles_;
  std::map<std::string, Comment> comments_;
};

}  // namespace remora::figures
