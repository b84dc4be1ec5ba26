#include "lab/rpc/objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace remora::lab {

namespace {

constexpr std::array<std::pair<std::string_view, std::uint64_t>, 3> time_units = {
    {{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}}};
constexpr std::uint64_t longest_work_ns = 1'000'000'000;

}  // namespace

Result<CallWork> parse_call_work(std::string_view text) {
  if (text == "none") {
    return CallWork();
  }
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const std::string_view span = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(span.data(), span.data() + span.size(), count);
  const std::string_view unit = span.substr(static_cast<std::size_t>(end - span.data()));
  for (const auto& [name, unit_ns] : time_units) {
    if (unit == name && error == std::errc() && (kind == "wait" || kind == "spin") && count > 0 &&
        count <= longest_work_ns / unit_ns) {
      return CallWork{kind == "wait" ? CallWork::Kind::wait : CallWork::Kind::spin,
                      count * unit_ns};
    }
  }
  return Status(
      Code::invalid_argument,
      fmt::format("'{}' is no work of a call; write none, wait:100us or spin:100us, up to "
                  "a second",
                  text));
}

std::string to_string(const CallWork& work) {
  if (work.kind == CallWork::Kind::none) {
    return "none";
  }
  std::uint64_t span = work.span_ns;
  std::string_view unit = "ns";
  for (const auto& [name, unit_ns] : time_units) {
    if (work.span_ns % unit_ns == 0) {
      span = work.span_ns / unit_ns;
      unit = name;
    }
  }
  return fmt::format("{}:{}{}", work.kind == CallWork::Kind::wait ? "wait" : "spin", span, unit);
}

Objects::Objects(const Host& host, Bytes memory, std::size_t object_bytes, const CallWork& work)
    : host_(host),
      memory_(memory),
      object_bytes_(object_bytes),
      stride_(object_stride(object_bytes)),
      work_(work) {
  REMORA_CHECK(memory.size() >= stride_, "there is no room for an object");
}

rpc::Reply Objects::handle(const rpc::Session& session, std::uint32_t call, rpc::Kind kind,
                           ConstBytes request, Bytes body) {
  const bool is_write = kind == write_object;
  if ((kind != read_object && !is_write) ||
      request.size() != object_request_bytes + (is_write ? object_bytes_ : 0)) {
    return rpc::Reply::failure(body, Code::invalid_argument, "there is no such call of objects");
  }
  std::uint64_t number = 0;
  std::memcpy(&number, request.data(), sizeof number);
  const Bytes object =
      memory_.subspan(number % (memory_.size() / stride_) * stride_, object_bytes_);
  rpc::Reply reply;
  ConstBytes result;
  if (is_write) {
    ++writes_;
    host_.copy(object.data(), request.subspan(object_request_bytes));
    reply.ticket = host_.drain();
  } else {
    ++reads_;
    host_.charge_copy(object.size());
    result = object;
  }
  if (work_.kind == CallWork::Kind::wait) {
    wait(session, call, reply, result);
    return {.later = true};
  }
  if (work_.kind == CallWork::Kind::spin) {
    spin();
  }
  copy_bytes(body.data(), result);
  reply.size_bytes = static_cast<std::uint32_t>(result.size());
  return reply;
}

// In virtual time the core is charged; in real time it is kept busy.
void Objects::spin() const {
  const std::uint64_t end_ns = host_.now_ns() + work_.span_ns;
  host_.charge_ns(work_.span_ns);
  if (host_.charged_until_ns() == 0) {
    while (host_.now_ns() < end_ns) {
    }
  }
}

void Objects::wait(const rpc::Session& session, std::uint32_t call, const rpc::Reply& reply,
                   ConstBytes result) {
  if (unused_.empty()) {
    waits_.push_back(std::make_unique<Wait>(*this));
    unused_.reserve(waits_.size());
    unused_.push_back(waits_.back().get());
  }
  Wait& wait = *unused_.back();
  unused_.pop_back();
  wait.session = session.id;
  wait.call = call;
  wait.reply = reply;
  wait.result = result;
  // From when the core has done what came before.
  const std::uint64_t begin_ns = std::max(host_.now_ns(), host_.charged_until_ns());
  host_.runtime().arm(wait, begin_ns + work_.span_ns);
}

void Objects::answer(Wait& wait) {
  server_->answer(wait.session, wait.call, wait.reply, wait.result);
  unused_.push_back(&wait);
}

}  // namespace remora::lab
