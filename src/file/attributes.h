// AttributesOf files: modes, owners, times, and extended attributes. Each change is one record.
#pragma once

#include "file/contents.h"
#include "file/core.h"
#include "file/extended.h"
#include "file/rights.h"
#include "file/volume.h"

namespace remora::file {

class AttributesOf {
 public:
  AttributesOf(Core& core, Contents& contents) : core_(core), contents_(contents) {}

  Outcome<Attributes> get(Number number);
  Outcome<Receipt> change(const Caller& caller, Number number, const AttributeChange& wanted);
  Outcome<std::string> extended(const Caller& caller, Number number, std::string_view name);
  Outcome<std::vector<std::string>> extended_names(Number number);
  // Without a value the attribute is removed.
  Outcome<Receipt> set_extended(const Caller& caller, Number number, std::string_view name,
                                std::optional<std::string_view> value, SetAttribute how);

 private:
  Errno check_change(const Caller& caller, const Live& live, const AttributeChange& wanted);
  Outcome<ExtendedAttributes> read(const Live& live);
  Errno check_extended(const Caller& caller, const Live& live, std::string_view name,
                       unsigned rights);
  Outcome<Receipt> write_extended(const Caller& caller, Live& live,
                                  const ExtendedAttributes& attributes);

  Core& core_;
  Contents& contents_;
};

}  // namespace remora::file
