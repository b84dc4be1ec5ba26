// CampaignNumber: what a test program takes besides googletest's options, as in
//   kill_test --kills 200 --seed 7
// A program that declares some is built with campaign.cpp, whose main() refuses what it does not
// know, and lists what there is.
#pragma once

#include <cstdint>
#include <optional>

namespace remora {

class CampaignNumber {
 public:
  // A constant of the program, before main(). `name` is that on the command line, without dashes.
  CampaignNumber(const char* name, const char* about);
  CampaignNumber(const CampaignNumber&) = delete;
  CampaignNumber& operator=(const CampaignNumber&) = delete;

  std::uint64_t value_or(std::uint64_t usual) const { return given_.value_or(usual); }
  bool is_given() const { return given_.has_value(); }

  const char* name() const { return name_; }
  const char* about() const { return about_; }
  void give(std::uint64_t number) { given_ = number; }

 private:
  const char* name_;
  const char* about_;
  std::optional<std::uint64_t> given_;
};

}  // namespace remora
