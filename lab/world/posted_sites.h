// PostedSites: counts and mutes the FLUSHes, SFLUSHes and ATOMIC WRITEs that the programs of a node
// post, as CrashMemory does with the calls of their regions. One that is muted goes its way and
// completes, and does nothing: a FLUSH of no bytes. One with immediate or payload covers nothing,
// and does the rest.
#pragma once

#include "fabric/nic/overseer.h"
#include "fabric/posted_site.h"
#include "lab/memory/sites.h"

namespace remora::lab {

class PostedSites final : public fabric::nic::Overseer {
 public:
  // The table outlives this; null: nothing is counted.
  explicit PostedSites(SiteTable* sites) : sites_(sites) {}

  // Null where nothing is counted, for those who can do without an overseer.
  Overseer* get() { return sites_ == nullptr ? nullptr : this; }

  void look(fabric::SendWork& work) override {
    const std::optional<Site> site = fabric::site_of(work);
    if (site && sites_->visit(SiteKind::post, *site)) {
      const bool goes_on =
          work.opcode == fabric::Opcode::flush_imm || work.opcode == fabric::Opcode::flush_payload;
      work.opcode = goes_on ? work.opcode : fabric::Opcode::flush;
      work.flush_bytes = 0;
      work.flush_placement = goes_on ? work.flush_placement : fabric::FlushPlacement::visibility;
      work.flush_select = fabric::FlushSelect::range;
    }
  }

 private:
  SiteTable* const sites_;
};

}  // namespace remora::lab
