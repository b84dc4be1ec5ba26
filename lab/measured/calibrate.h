// Calibration: what verbs, copies, checksums and write-backs take on this machine, as profiles that
// the model takes. Nothing that it runs is a store. The wire is one of those of a host: there the
// verbs themselves are work of processors.
//
// It takes about two seconds. What it measures moves with what else the machine does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fabric/nic/wire/sim/profile.h"
#include "lab/measured/seat.h"
#include "link/wires.h"

namespace remora::lab {

struct CalibrationOptions {
  link::WireKind wire = link::WireKind::ring;  // or mapped
  Placement placement = Placement::apart;
};

// Of each profile all numbers, in the order of their keys, each with how it was measured or where
// it is from.
struct Calibration {
  fabric::nic::sim::ProfileListing nic;
  fabric::nic::sim::ProfileListing memory;
  fabric::nic::sim::ProfileListing cpu;
  // Which side's processor executed READs and WRITEs, for a person.
  std::string one_sided_work;
};

Result<Calibration> calibrate(const CalibrationOptions& options);

// As a profile's file has it.
std::string to_toml(const fabric::nic::sim::ProfileListing& listing, std::string_view about);

// Writes nic.toml, memory.toml and cpu.toml to the folder, which is made if it is not there; gives
// the names by which a model takes them.
Result<fabric::nic::sim::ProfileNames> write_profiles(const Calibration& calibration,
                                                      const std::string& folder);

}  // namespace remora::lab
