#include "lab/check/reads.h"

namespace remora {

bool tells_version(const Operation& operation) {
  return operation.outcome == Outcome::not_found ||
         (operation.outcome == Outcome::value && operation.read.wholeness == Wholeness::whole &&
          operation.read.hash_of_key == key_hash(operation.key));
}

bool could_have_left(const Operation& writer, const Operation& get) {
  if (!writer.may_have_happened() || writer.invoked > get.responded) {
    return false;
  }
  return get.outcome == Outcome::not_found
             ? writer.kind == OperationKind::del
             : writer.kind == OperationKind::put && writer.written.id == get.read.value.id;
}

}  // namespace remora
