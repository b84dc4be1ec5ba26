#include "lab/figures/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "lab/figures/json_fields.h"

namespace remora::figures {
namespace {

using nlohmann::json;

Result<std::vector<Paper>> parse_papers(std::string_view text) {
  return parse_json("papers.json", text, [](const json& file) {
    Fields fields(file, "the file");
    fields.text("about");
    std::vector<Paper> papers;
    for (const json& object : fields.array("papers")) {
      Fields paper(object, "a paper");
      papers.push_back({paper.text("id"),
                        paper.text("system"),
                        paper.text("title"),
                        paper.text("venue"),
                        paper.texts("figures"),
                        paper.texts("designs"),
                        {}});
      paper.finish();
    }
    fields.finish();
    return papers;
  });
}

Result<std::map<std::string, Comment>> parse_comments(std::string_view text) {
  return parse_json("findings.json", text, [](const json& file) {
    Fields fields(file, "the file");
    fields.text("about");
    std::map<std::string, Comment> comments;
    for (const auto& [name, member] :
         {std::pair("findings", &Comment::finding), std::pair("remarks", &Comment::remark),
          std::pair("spent", &Comment::spent)}) {
      if (!file.contains(name)) {
        continue;
      }
      const json& object = fields.object(name);
      Fields texts(object, name);
      for (const auto& [claim, said] : object.items()) {
        comments[claim].*member = texts.text(claim);
      }
    }
    fields.finish();
    return comments;
  });
}

Status wrong(std::string what) {
  return Status(Code::invalid_argument, "docs/claims: " + std::move(what));
}

// Whether `id` is `group` and one letter: 9a of 9.
bool in_group(std::string_view id, std::string_view group) {
  return id.size() == group.size() + 1 && id.starts_with(group) && !group.empty() &&
         std::isdigit(static_cast<unsigned char>(group.back())) != 0 &&
         std::isalpha(static_cast<unsigned char>(id.back())) != 0;
}

}  // namespace

Result<Library> Library::built_in() {
  return parse(embedded_claims());
}

Result<Library> Library::parse(const std::vector<EmbeddedText>& texts) {
  Library library;
  for (const EmbeddedText& text : texts) {
    REMORA_TRY(library.read(text));
  }
  for (Paper& paper : library.papers_) {
    paper.profile = library.profiles_[paper.id];
  }
  REMORA_TRY(library.check());
  for (Claim& claim : library.claims_) {
    const std::vector<std::string>& designs = library.paper(claim.paper)->designs;
    claim.is_ours = std::ranges::any_of(
        designs, [&](const std::string& design) { return claim.subject.starts_with(design); });
  }
  return library;
}

Status Library::read(const EmbeddedText& text) {
  if (text.path == "claims.json") {
    Result<std::vector<Claim>> claims = parse_claims(text.text);
    REMORA_TRY(claims.status());
    claims_ = std::move(*claims);
  } else if (text.path == "papers.json") {
    Result<std::vector<Paper>> papers = parse_papers(text.text);
    REMORA_TRY(papers.status());
    papers_ = std::move(*papers);
  } else if (text.path == "findings.json") {
    Result<std::map<std::string, Comment>> comments = parse_comments(text.text);
    REMORA_TRY(comments.status());
    comments_ = std::move(*comments);
  } else if (text.path.starts_with("figures/")) {
    Result<PaperFigures> parsed = parse_figures(text.path, text.text);
    REMORA_TRY(parsed.status());
    profiles_[parsed->paper] = parsed->profile;
    std::move(parsed->figures.begin(), parsed->figures.end(), std::back_inserter(figures_));
  } else {
    return wrong(fmt::format("{} is no file that is known there", text.path));
  }
  return Status();
}

Status Library::check() const {
  REMORA_TRY(check_claims());
  REMORA_TRY(check_readings());
  for (const auto& [claim_id, comment] : comments_) {
    if (claim(claim_id) == nullptr) {
      return wrong(fmt::format("findings.json has '{}', which is no claim", claim_id));
    }
  }
  return Status();
}

Status Library::check_claims() const {
  for (const Claim& claim : claims_) {
    const Paper* const of = paper(claim.paper);
    if (of == nullptr) {
      return wrong(fmt::format("claim {} is of '{}', which is no paper", claim.id, claim.paper));
    }
    if (std::find(of->figures.begin(), of->figures.end(), claim.figure) == of->figures.end()) {
      return wrong(fmt::format("claim {} is of figure '{}', which papers.json does not have for {}",
                               claim.id, claim.figure, claim.paper));
    }
    const Figure* const drawn = figure(claim.paper, claim.figure);
    if (drawn != nullptr && drawn->reading_of(claim.id) == nullptr) {
      return wrong(fmt::format("claim {} is of figure {}, which does not say where to read it",
                               claim.id, drawn->key()));
    }
  }
  return Status();
}

Status Library::check_readings() const {
  for (const Figure& figure : figures_) {
    const Paper* const of = paper(figure.paper);
    const bool is_ours = figure.claims.empty();  // and no paper has it
    if (of == nullptr || (!is_ours && std::find(of->figures.begin(), of->figures.end(),
                                                figure.id) == of->figures.end())) {
      return wrong(fmt::format("figure {} is not in papers.json", figure.key()));
    }
    for (const ClaimReading& reading : figure.claims) {
      const Claim* const read = claim(reading.claim);
      if (read == nullptr || read->paper != figure.paper || read->figure != figure.id) {
        return wrong(fmt::format("figure {} reads '{}', which is no claim of it", figure.key(),
                                 reading.claim));
      }
      if ((read->kind == ClaimKind::shape) == reading.conditions.empty()) {
        return wrong(
            fmt::format("figure {} reads {} wrongly: a shape is read by conditions, any "
                        "other claim by a subject",
                        figure.key(), reading.claim));
      }
    }
  }
  return Status();
}

const Paper* Library::paper(std::string_view id) const {
  const auto found = std::find_if(papers_.begin(), papers_.end(),
                                  [&](const Paper& paper) { return paper.id == id; });
  return found == papers_.end() ? nullptr : &*found;
}

const Claim* Library::claim(std::string_view id) const {
  const auto found = std::find_if(claims_.begin(), claims_.end(),
                                  [&](const Claim& claim) { return claim.id == id; });
  return found == claims_.end() ? nullptr : &*found;
}

const Figure* Library::figure(std::string_view paper, std::string_view id) const {
  const auto found = std::find_if(figures_.begin(), figures_.end(), [&](const Figure& figure) {
    return figure.paper == paper && figure.id == id;
  });
  return found == figures_.end() ? nullptr : &*found;
}

Comment Library::comment(const std::string& claim) const {
  const auto found = comments_.find(claim);
  return found == comments_.end() ? Comment() : found->second;
}

Result<std::vector<const Figure*>> Library::select(std::string_view name) const {
  std::vector<const Figure*> selected;
  std::string there;
  for (const Figure& figure : figures_) {
    const std::string key = figure.key();
    const std::string prefix = figure.paper + "-";
    const bool grouped =
        name.starts_with(prefix) &&
        in_group(std::string_view(key).substr(prefix.size()), name.substr(prefix.size()));
    if (name.empty() || name == figure.paper || name == key || grouped) {
      selected.push_back(&figure);
    }
    there += (there.empty() ? "" : ", ") + key;
  }
  if (selected.empty()) {
    return Status(Code::not_found,
                  fmt::format("there is no figure '{}'; there are {}", name, there));
  }
  return selected;
}

std::vector<const Claim*> Library::claims_of(const std::vector<const Figure*>& figures) const {
  std::vector<const Claim*> selected;
  for (const Claim& claim : claims_) {
    if (std::any_of(figures.begin(), figures.end(), [&](const Figure* figure) {
          return figure->paper == claim.paper && figure->id == claim.figure;
        })) {
      selected.push_back(&claim);
    }
  }
  return selected;
}

}  // namespace remora::figures
