// The ends that several designs have: requests in slots, and answers WRITTEN back.
#pragma once

#include <utility>

#include "rpc/designs/design.h"
#include "rpc/inlet_slots.h"
#include "rpc/outlet_writes.h"

namespace remora::rpc {

// What a design asks for beside window and sizes, which are those of its options.
inline SlotInletOptions slot_inlet_options(const DesignOptions& options,
                                           SlotInletOptions wanted = {}) {
  wanted.most_clients = options.most_clients;
  wanted.window = options.window;
  wanted.body_bytes = options.body_bytes;
  return wanted;
}

inline WriteOutletOptions write_outlet_options(const DesignOptions& options, bool with_imm) {
  return {.most_clients = options.most_clients,
          .window = options.window,
          .body_bytes = options.body_bytes,
          .with_imm = with_imm};
}

// By WRITE both ways; by WRITE with IMM where the inlet is told so.
inline Result<Ends> slots_and_writes(const Host& host, const DesignOptions& options,
                                     const SlotInletOptions& wanted) {
  Ends ends;
  REMORA_TRY_RESULT(outlet, WriteOutlet::create(host.device(),
                                                write_outlet_options(options, wanted.told_by_imm)));
  REMORA_TRY_RESULT(inlet, SlotInlet::create(host.device(), slot_inlet_options(options, wanted)));
  ends.outlet = std::move(outlet).value();
  ends.inlet = std::move(inlet).value();
  return ends;
}

}  // namespace remora::rpc
