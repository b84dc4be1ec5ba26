#include "base/result.h"

#include <cerrno>
#include <system_error>

namespace remora {

std::string_view to_string(Code code) {
  switch (code) {
    case Code::ok:
      return "ok";
    case Code::invalid_argument:
      return "invalid_argument";
    case Code::not_found:
      return "not_found";
    case Code::already_exists:
      return "already_exists";
    case Code::no_space:
      return "no_space";
    case Code::permission_denied:
      return "permission_denied";
    case Code::in_use:
      return "in_use";
    case Code::damaged:
      return "damaged";
    case Code::unsupported:
      return "unsupported";
    case Code::io_error:
      return "io_error";
    case Code::closed:
      return "closed";
    case Code::timed_out:
      return "timed_out";
    case Code::conflict:
      return "conflict";
  }
  return "unknown";
}

Status::Status(Code code, std::string message) {
  REMORA_CHECK(code != Code::ok, "a failure needs a code other than ok");
  failure_ = std::make_unique<Failure>(Failure{code, std::move(message)});
}

Status::Status(const Status& other)
    : failure_(other.failure_ ? std::make_unique<Failure>(*other.failure_) : nullptr) {}

Status& Status::operator=(const Status& other) {
  if (this != &other) {
    failure_ = other.failure_ ? std::make_unique<Failure>(*other.failure_) : nullptr;
  }
  return *this;
}

std::string_view Status::message() const {
  return failure_ ? std::string_view(failure_->message) : std::string_view();
}

namespace {

Code code_of(int error_number) {
  switch (error_number) {
    case ENOENT:
      return Code::not_found;
    case EEXIST:
      return Code::already_exists;
    case ENOSPC:
    case EDQUOT:
      return Code::no_space;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::permission_denied;
    case EBUSY:
    case EAGAIN:
      return Code::in_use;
    case EINVAL:
    case EISDIR:
    case ENOTDIR:
      return Code::invalid_argument;
    case EOPNOTSUPP:
    case ENOSYS:
      return Code::unsupported;
    case ETIMEDOUT:
      return Code::timed_out;
    default:
      return Code::io_error;
  }
}

}  // namespace

Status os_failure(std::string_view what, int error_number) {
  std::string message(what);
  message += ": ";
  message += std::generic_category().message(error_number);
  return Status(code_of(error_number), std::move(message));
}

}  // namespace remora
