#include "base/result.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace remora {
namespace {

TEST(Status, success_has_no_message) {
  Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), Code::ok);
  EXPECT_TRUE(status.message().empty());
}

TEST(Status, failure_keeps_code_and_message_through_copies) {
  Status status(Code::no_space, "pool is full");
  Status copy = status;
  Status moved = std::move(status);
  EXPECT_EQ(copy.code(), Code::no_space);
  EXPECT_EQ(moved.message(), "pool is full");
}

TEST(Status, os_failure_names_action_and_reason) {
  Status status = os_failure("cannot open x", EACCES);
  EXPECT_EQ(status.code(), Code::permission_denied);
  EXPECT_EQ(status.message(), "cannot open x: Permission denied");
}

TEST(Status, os_failures_get_the_code_that_programs_act_on) {
  EXPECT_EQ(os_failure("x", ENOENT).code(), Code::not_found);
  EXPECT_EQ(os_failure("x", EEXIST).code(), Code::already_exists);
  EXPECT_EQ(os_failure("x", ENOSPC).code(), Code::no_space);
  EXPECT_EQ(os_failure("x", EROFS).code(), Code::permission_denied);
  EXPECT_EQ(os_failure("x", EIO).code(), Code::io_error);
}

TEST(Status, every_code_has_a_name_of_its_own) {
  std::set<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(Code::conflict); ++code) {
    names.insert(to_string(static_cast<Code>(code)));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(Code::conflict) + 1);
  EXPECT_FALSE(names.contains("unknown"));
}

TEST(Status, assignment_copies_failures_and_successes) {
  Status status(Code::closed, "closed");
  Status other;
  other = status;
  EXPECT_EQ(other.message(), "closed");
  other = Status();
  EXPECT_TRUE(other.ok());
  EXPECT_FALSE(status.ok());
}

TEST(StatusDeathTest, a_failure_with_the_code_ok_is_a_bug) {
  EXPECT_DEATH((void)Status(Code::ok, "fine"), "other than ok");
}

TEST(Result, holds_a_value_that_only_moves) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(7));
  ASSERT_TRUE(result.ok());
  std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 7);
}

TEST(Result, holds_a_failure) {
  Result<std::string> result(Status(Code::not_found, "no such root"));
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.status().message(), "no such root");
}

TEST(Result, assignment_changes_between_value_and_failure) {
  Result<std::string> result(std::string("a value long enough to own memory of its own"));
  result = Result<std::string>(Status(Code::closed, "closed"));
  EXPECT_EQ(result.code(), Code::closed);
  result = Result<std::string>(std::string("again"));
  EXPECT_EQ(result.value(), "again");
}

TEST(Result, of_a_value_has_a_status_of_success) {
  const Result<int> result(7);
  EXPECT_TRUE(result.status().ok());
  EXPECT_EQ(result.code(), Code::ok);
}

TEST(ResultDeathTest, a_result_from_success_without_a_value_is_a_bug) {
  EXPECT_DEATH((void)Result<int>(Status()), "must carry a failure");
}

TEST(ResultDeathTest, value_of_a_failure_is_a_bug) {
  Result<int> result(Status(Code::closed, "closed"));
  EXPECT_DEATH((void)result.value(), "asked a failed Result");
}

Status passes_on(Status inner) {
  REMORA_TRY(inner);
  return Status(Code::timed_out, "went on");
}

TEST(Result, try_returns_the_failure_or_goes_on) {
  EXPECT_EQ(passes_on(Status(Code::closed, "x")).code(), Code::closed);
  EXPECT_EQ(passes_on(Status()).code(), Code::timed_out);
}

}  // namespace
}  // namespace remora
