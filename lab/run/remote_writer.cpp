#include "lab/run/remote_writer.h"

#include <algorithm>
#include <utility>

namespace remora::store_bench {

using fabric::WorkCompletion;
using fabric::WorkStatus;

namespace {

constexpr std::uint32_t notice_bytes = 16;  // what tells the server to persist, and every answer

Status status_of(const WorkCompletion& completion) {
  return completion.status == WorkStatus::success
             ? Status()
             : Status(Code::io_error, "a remote write failed: " +
                                          std::string(fabric::to_string(completion.status)));
}

}  // namespace

Result<WriteMethod> parse_write_method(const std::string& name) {
  const std::pair<const char*, WriteMethod> methods[] = {{"rpc", WriteMethod::rpc},
                                                         {"ca", WriteMethod::ca},
                                                         {"saw", WriteMethod::saw},
                                                         {"imm", WriteMethod::imm}};
  for (const auto& [known, method] : methods) {
    if (name == known) {
      return method;
    }
  }
  return Status(Code::invalid_argument,
                "no way of writing is called " + name + "; there are rpc, ca, saw and imm");
}

std::uint32_t RemoteWrites::message_bytes() const {
  return std::max(size_bytes, notice_bytes);
}

std::uint64_t RemoteWrites::after(std::uint64_t place) const {
  return (place + round_up(std::uint64_t{size_bytes}, std::uint64_t{64})) %
         (area_bytes - largest_write_bytes);
}

Status validate(const RemoteWrites& writes) {
  if (writes.size_bytes == 0 || writes.size_bytes > largest_write_bytes) {
    return Status(Code::invalid_argument, "a remote write has 1 byte to 1 MB");
  }
  return {};
}

Task<void> WriteServer::serve() {
  std::uint64_t place = 0;
  Task<WorkCompletion> next = receive();
  for (;;) {
    const WorkCompletion arrived = co_await std::move(next);
    if (arrived.status != WorkStatus::success) {
      co_return;
    }
    host_.charge(Work::poll);
    host_.charge(Work::request);
    place = writes_.after(place);
    std::byte* const there = area_ + place;
    if (writes_.method == WriteMethod::rpc) {
      host_.copy(there, ConstBytes(received_.address, writes_.size_bytes));
      (void)host_.drain();
    } else {
      (void)host_.persist(ConstBytes(there, writes_.size_bytes));
    }
    next = receive();
    co_await ready();
    // If it cannot be sent, the receive fails too.
    (void)co_await flows_.send(pair_, to_send(notice_bytes));
  }
}

Task<Status> WriteClient::write_all(std::uint64_t count, workload::Meter* meter) {
  for (; count > 0; --count) {
    place_ = writes_.after(place_);
    const std::uint64_t begin_ns = host_.now_ns();
    REMORA_CO_TRY(co_await write({area_.address + place_, area_.key}));
    if (meter != nullptr) {
      meter->record(workload::Kind::update, host_.now_ns() - begin_ns);
    }
  }
  co_return Status();
}

Task<Status> WriteClient::write(fabric::RemoteAddress there) {
  const fabric::Sge value = to_send(writes_.size_bytes);
  if (writes_.method == WriteMethod::ca) {
    co_await ready();
    const WorkCompletion written = co_await flows_.write(pair_, value, there);
    host_.charge(Work::poll);
    co_await host_.charged();
    co_return status_of(written);
  }
  Task<WorkCompletion> answer = receive();
  co_await ready();
  WorkCompletion sent;
  if (writes_.method == WriteMethod::rpc) {
    sent = co_await flows_.send(pair_, value);
  } else if (writes_.method == WriteMethod::imm) {
    sent = co_await flows_.write_imm(pair_, value, there, 1);
  } else {
    sent = co_await flows_.write(pair_, value, there);
    host_.charge(Work::poll);
    if (sent.status == WorkStatus::success) {
      co_await ready();
      sent = co_await flows_.send(pair_, to_send(notice_bytes));
    }
  }
  if (sent.status != WorkStatus::success) {
    pair_.fail();  // or the answer would be awaited for ever
  }
  const WorkCompletion answered = co_await std::move(answer);
  host_.charge(Work::poll);
  co_await host_.charged();
  co_return status_of(sent.status == WorkStatus::success ? answered : sent);
}

}  // namespace remora::store_bench
