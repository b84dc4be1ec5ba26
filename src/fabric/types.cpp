#include "fabric/types.h"

#include "fabric/opcodes.h"

namespace remora::fabric {

std::string_view to_string(Opcode opcode) {
  const auto at = static_cast<std::size_t>(opcode);
  return at < opcode_rows.size() ? opcode_rows[at].name : "unknown";
}

std::string_view to_string(QpState state) {
  switch (state) {
    case QpState::reset:
      return "reset";
    case QpState::init:
      return "init";
    case QpState::ready_to_receive:
      return "ready to receive";
    case QpState::ready_to_send:
      return "ready to send";
    case QpState::error:
      return "error";
  }
  return "unknown";
}

std::string_view to_string(WorkStatus status) {
  switch (status) {
    case WorkStatus::success:
      return "success";
    case WorkStatus::local_length_error:
      return "local length error";
    case WorkStatus::local_qp_operation_error:
      return "local queue pair operation error";
    case WorkStatus::local_protection_error:
      return "local protection error";
    case WorkStatus::flushed:
      return "flushed: the queue pair is in the error state";
    case WorkStatus::bad_response:
      return "bad response";
    case WorkStatus::local_access_error:
      return "local access error";
    case WorkStatus::remote_invalid_request:
      return "remote invalid request";
    case WorkStatus::remote_access_error:
      return "remote access error";
    case WorkStatus::remote_operation_error:
      return "remote operation error";
    case WorkStatus::retry_exceeded:
      return "retries exceeded: the peer does not answer";
    case WorkStatus::rnr_retry_exceeded:
      return "retries exceeded: the peer posts no receive";
    case WorkStatus::general_error:
      return "general error";
  }
  return "unknown";
}

}  // namespace remora::fabric
