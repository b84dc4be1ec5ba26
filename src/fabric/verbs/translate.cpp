#include "fabric/verbs/translate.h"

#include <cerrno>

namespace remora::fabric::verbs {

WorkStatus to_status(ibv_wc_status status) {
  switch (status) {
    case IBV_WC_SUCCESS:
      return WorkStatus::success;
    case IBV_WC_LOC_LEN_ERR:
      return WorkStatus::local_length_error;
    case IBV_WC_LOC_QP_OP_ERR:
      return WorkStatus::local_qp_operation_error;
    case IBV_WC_LOC_PROT_ERR:
      return WorkStatus::local_protection_error;
    case IBV_WC_WR_FLUSH_ERR:
      return WorkStatus::flushed;
    case IBV_WC_BAD_RESP_ERR:
      return WorkStatus::bad_response;
    case IBV_WC_LOC_ACCESS_ERR:
      return WorkStatus::local_access_error;
    case IBV_WC_REM_INV_REQ_ERR:
      return WorkStatus::remote_invalid_request;
    case IBV_WC_REM_ACCESS_ERR:
      return WorkStatus::remote_access_error;
    case IBV_WC_REM_OP_ERR:
      return WorkStatus::remote_operation_error;
    case IBV_WC_RETRY_EXC_ERR:
      return WorkStatus::retry_exceeded;
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return WorkStatus::rnr_retry_exceeded;
    default:
      return WorkStatus::general_error;
  }
}

QpState to_state(ibv_qp_state state) {
  switch (state) {
    case IBV_QPS_RESET:
      return QpState::reset;
    case IBV_QPS_INIT:
      return QpState::init;
    case IBV_QPS_RTR:
      return QpState::ready_to_receive;
    case IBV_QPS_RTS:
    case IBV_QPS_SQD:
      return QpState::ready_to_send;
    default:
      return QpState::error;
  }
}

std::optional<ibv_wr_opcode> to_opcode(Opcode opcode) {
  switch (opcode) {
    case Opcode::send:
      return IBV_WR_SEND;
    case Opcode::send_imm:
      return IBV_WR_SEND_WITH_IMM;
    case Opcode::write:
      return IBV_WR_RDMA_WRITE;
    case Opcode::write_imm:
      return IBV_WR_RDMA_WRITE_WITH_IMM;
    case Opcode::read:
      return IBV_WR_RDMA_READ;
    case Opcode::compare_swap:
      return IBV_WR_ATOMIC_CMP_AND_SWP;
    case Opcode::fetch_add:
      return IBV_WR_ATOMIC_FETCH_AND_ADD;
    default:
      return std::nullopt;
  }
}

std::uint8_t timeout_code(std::uint64_t timeout_ns) {
  constexpr std::uint64_t unit_ns = 4096;
  std::uint8_t code = 1;
  while (code < 31 && (unit_ns << code) < timeout_ns) {
    ++code;
  }
  return code;
}

std::uint32_t mtu_bytes(ibv_mtu mtu) {
  return 128U << static_cast<unsigned>(mtu);
}

ibv_mtu to_mtu(std::uint32_t bytes) {
  unsigned mtu = IBV_MTU_4096;
  while (mtu > IBV_MTU_256 && mtu_bytes(static_cast<ibv_mtu>(mtu)) > bytes) {
    --mtu;
  }
  return static_cast<ibv_mtu>(mtu);
}

Status post_failure(int error_number) {
  if (error_number == ENOMEM) {
    return Status(Code::no_space, "the device's queue is full; poll its completions");
  }
  if (error_number == EINVAL) {
    return Status(Code::invalid_argument, "the device does not take this request");
  }
  return os_failure("cannot post to the device's queue", error_number);
}

}  // namespace remora::fabric::verbs
