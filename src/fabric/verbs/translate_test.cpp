#include "fabric/verbs/translate.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <map>

namespace remora::fabric::verbs {
namespace {

TEST(Translate, every_status_of_a_reliable_connection_has_its_own_word) {
  const std::map<ibv_wc_status, WorkStatus> known = {
      {IBV_WC_SUCCESS, WorkStatus::success},
      {IBV_WC_LOC_LEN_ERR, WorkStatus::local_length_error},
      {IBV_WC_LOC_QP_OP_ERR, WorkStatus::local_qp_operation_error},
      {IBV_WC_LOC_PROT_ERR, WorkStatus::local_protection_error},
      {IBV_WC_WR_FLUSH_ERR, WorkStatus::flushed},
      {IBV_WC_BAD_RESP_ERR, WorkStatus::bad_response},
      {IBV_WC_LOC_ACCESS_ERR, WorkStatus::local_access_error},
      {IBV_WC_REM_INV_REQ_ERR, WorkStatus::remote_invalid_request},
      {IBV_WC_REM_ACCESS_ERR, WorkStatus::remote_access_error},
      {IBV_WC_REM_OP_ERR, WorkStatus::remote_operation_error},
      {IBV_WC_RETRY_EXC_ERR, WorkStatus::retry_exceeded},
      {IBV_WC_RNR_RETRY_EXC_ERR, WorkStatus::rnr_retry_exceeded}};
  for (int number = 0; number <= IBV_WC_TM_RNDV_INCOMPLETE + 1; ++number) {
    const auto status = static_cast<ibv_wc_status>(number);
    const auto found = known.find(status);
    EXPECT_EQ(to_status(status), found != known.end() ? found->second : WorkStatus::general_error)
        << number;
  }
}

TEST(Translate, states_are_those_of_the_contract) {
  EXPECT_EQ(to_state(IBV_QPS_RESET), QpState::reset);
  EXPECT_EQ(to_state(IBV_QPS_INIT), QpState::init);
  EXPECT_EQ(to_state(IBV_QPS_RTR), QpState::ready_to_receive);
  EXPECT_EQ(to_state(IBV_QPS_RTS), QpState::ready_to_send);
  EXPECT_EQ(to_state(IBV_QPS_SQE), QpState::error);
  EXPECT_EQ(to_state(IBV_QPS_ERR), QpState::error);
}

TEST(Translate, requests_with_a_call_of_their_own_have_no_opcode) {
  for (int number = 0; number <= static_cast<int>(Opcode::fetch_add); ++number) {
    EXPECT_TRUE(to_opcode(static_cast<Opcode>(number)).has_value()) << number;
  }
  EXPECT_FALSE(to_opcode(Opcode::atomic_write).has_value());
  EXPECT_FALSE(to_opcode(Opcode::flush).has_value());
}

TEST(Translate, a_time_out_is_never_shorter_than_asked_for_and_never_for_ever) {
  EXPECT_EQ(timeout_code(0), 1);
  EXPECT_EQ(timeout_code(8192), 1);
  EXPECT_EQ(timeout_code(8193), 2);
  EXPECT_EQ(timeout_code(67'000'000), 14);
  EXPECT_EQ(timeout_code(~std::uint64_t{0}), 31);
}

TEST(Translate, mtus_are_rounded_down) {
  EXPECT_EQ(to_mtu(100), IBV_MTU_256);
  EXPECT_EQ(to_mtu(1023), IBV_MTU_512);
  EXPECT_EQ(to_mtu(1024), IBV_MTU_1024);
  EXPECT_EQ(to_mtu(9000), IBV_MTU_4096);
  EXPECT_EQ(mtu_bytes(IBV_MTU_4096), 4096u);
}

TEST(Translate, a_full_queue_is_no_space) {
  EXPECT_EQ(post_failure(ENOMEM).code(), Code::no_space);
  EXPECT_EQ(post_failure(EINVAL).code(), Code::invalid_argument);
}

// Rights travel to libibverbs as the numbers that they are.
TEST(Translate, rights_are_the_numbers_of_libibverbs) {
  EXPECT_EQ(local_write, static_cast<unsigned>(IBV_ACCESS_LOCAL_WRITE));
  EXPECT_EQ(remote_write, static_cast<unsigned>(IBV_ACCESS_REMOTE_WRITE));
  EXPECT_EQ(remote_read, static_cast<unsigned>(IBV_ACCESS_REMOTE_READ));
  EXPECT_EQ(remote_atomic, static_cast<unsigned>(IBV_ACCESS_REMOTE_ATOMIC));
  EXPECT_EQ(relaxed_order, static_cast<unsigned>(IBV_ACCESS_RELAXED_ORDERING));
#ifdef REMORA_VERBS_HAVE_FLUSH
  EXPECT_EQ(flush_visibility, static_cast<unsigned>(IBV_ACCESS_FLUSH_GLOBAL));
  EXPECT_EQ(flush_persistence, static_cast<unsigned>(IBV_ACCESS_FLUSH_PERSISTENT));
#endif
}

}  // namespace
}  // namespace remora::fabric::verbs
