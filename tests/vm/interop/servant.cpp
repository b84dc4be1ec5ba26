#include "tests/vm/interop/servant.h"

#include <poll.h>

#include <algorithm>

#include "base/check.h"

namespace remora::fabric::interop {
namespace {

// The first number of a message; an answer has 0 there, or 1 with the reason in its bytes.
enum Order : std::uint64_t {
  open_station,
  connect_station,
  put,
  get,
  receive,
  completion,
  lost,
  forget
};
enum Answer : std::uint64_t { fine, refused };

Message refusal(const Status& status) {
  const ConstBytes reason = as_bytes(status.message());
  return {.numbers = {refused}, .bytes = {reason.begin(), reason.end()}};
}

std::vector<std::byte> copy_of(ConstBytes bytes) {
  return {bytes.begin(), bytes.end()};
}

Message opened(Station& station) {
  const QueuePairAddress address = station.qp().address();
  const RemoteAddress memory = station.region().remote(0);
  Message answer{.numbers = {fine, address.number, address.first_packet, memory.address, memory.key,
                             station.region().access()}};
  answer.bytes = copy_of(std::as_bytes(std::span(address.gid)));
  const std::string text = station.description();
  answer.bytes.insert(answer.bytes.end(), as_bytes(text).begin(), as_bytes(text).end());
  return answer;
}

QueuePairAddress address_from(const Message& message) {
  QueuePairAddress address{.number = static_cast<QpNumber>(message.numbers[1]),
                           .first_packet = static_cast<PacketSequence>(message.numbers[2])};
  REMORA_CHECK(message.bytes.size() >= address.gid.size(), "a message without its gid");
  std::memcpy(address.gid.data(), message.bytes.data(), address.gid.size());
  return address;
}

Terms terms_from(const Message& message) {
  return {.loss_ppm = static_cast<std::uint32_t>(message.numbers[4]),
          .loss_seed = message.numbers[5],
          .rnr_retry = static_cast<std::uint8_t>(message.numbers[6]),
          .timeout_ns = message.numbers[7]};
}

Message with_terms(std::uint64_t order, const Terms& terms) {
  return {.numbers = {order, 0, 0, 0, terms.loss_ppm, terms.loss_seed, terms.rnr_retry,
                      terms.timeout_ns}};
}

Message obey(const StationOptions& options, std::unique_ptr<Station>& station,
             const Message& message) {
  const auto& numbers = message.numbers;
  if (numbers[0] == open_station) {
    station.reset();
    const Terms terms = terms_from(message);
    auto made = Station::open(options, terms.loss_ppm, terms.loss_seed);
    if (!made.ok()) {
      return refusal(made.status());
    }
    station = std::move(made).value();
    return opened(*station);
  }
  REMORA_CHECK(station != nullptr, "the first order is to open");
  switch (numbers[0]) {
    case connect_station: {
      const Status status =
          station->connect(address_from(message), terms_from(message).connect_options());
      return status.ok() ? Message{} : refusal(status);
    }
    case put:
      std::ranges::copy(message.bytes,
                        station->memory().subspan(numbers[1], message.bytes.size()).begin());
      return {};
    case get:
      return {.numbers = {fine},
              .bytes = copy_of(station->memory().subspan(numbers[1], numbers[2]))};
    case receive: {
      const Sge piece = station->region().piece(numbers[2], numbers[3]);
      const ReceiveWork work{.id = numbers[1], .pieces = std::span(&piece, 1)};
      const Status status = station->qp().post_receive(std::span(&work, 1));
      return status.ok() ? Message{} : refusal(status);
    }
    case completion: {
      WorkCompletion next;
      if (!station->run_until([&] { return station->queue().poll(std::span(&next, 1)) == 1; })) {
        return refusal(Status(Code::timed_out, "no completion came"));
      }
      return {.numbers = {fine, next.id, static_cast<std::uint64_t>(next.status),
                          static_cast<std::uint64_t>(next.opcode), next.has_immediate,
                          next.immediate, next.size_bytes}};
    }
    case lost:
      return {.numbers = {fine, station->lost()}};
    case forget:
      station->forget_region();
      return {};
    default:
      return refusal(Status(Code::unsupported, "an order that the servant does not know"));
  }
}

}  // namespace

Status serve(const StationOptions& options, Talk talk) {
  std::unique_ptr<Station> station;
  for (;;) {
    Result<std::optional<Message>> heard = talk.hear();
    if (!heard.ok()) {
      return heard.code() == Code::closed ? Status() : heard.status();
    }
    if (*heard) {
      REMORA_TRY(talk.say(obey(options, station, **heard)));
    } else if (station != nullptr) {
      (void)station->run_until([turns = 0]() mutable { return turns++ > 0; });
    } else {
      (void)::poll(nullptr, 0, 1);
    }
  }
}

Message Remote::ask(Station* near, const Message& order) {
  const Status said = talk_.say(order);
  REMORA_CHECK(said.ok(), "the servant is gone");
  Message answer;
  const auto answered = [&] {
    Result<std::optional<Message>> heard = talk_.hear();
    REMORA_CHECK(heard.ok(), "the servant hung up");
    if (*heard) {
      answer = std::move(**heard);
    }
    return heard->has_value();
  };
  if (near != nullptr) {
    REMORA_CHECK(near->run_until(answered), "the servant does not answer");
  } else {
    while (!answered()) {
      (void)::poll(nullptr, 0, 1);
    }
  }
  return answer;
}

Status Remote::open(const Terms& terms) {
  const Message answer = ask(nullptr, with_terms(open_station, terms));
  if (answer.numbers[0] != fine) {
    return Status(Code::unsupported, std::string(as_text(answer.bytes)));
  }
  address_ = address_from(answer);
  memory_ = {answer.numbers[3], static_cast<RemoteKey>(answer.numbers[4])};
  access_ = static_cast<AccessFlags>(answer.numbers[5]);
  description_ = as_text(ConstBytes(answer.bytes).subspan(address_.gid.size()));
  return Status();
}

Status Remote::connect(Station& near, const Terms& terms) {
  const QueuePairAddress own = near.qp().address();
  Message order = with_terms(connect_station, terms);
  order.numbers[1] = own.number;
  order.numbers[2] = own.first_packet;
  order.bytes = copy_of(std::as_bytes(std::span(own.gid)));
  const Message answer = ask(&near, order);
  if (answer.numbers[0] != fine) {
    return Status(Code::unsupported, std::string(as_text(answer.bytes)));
  }
  return near.connect(address_, terms.connect_options());
}

void Remote::put(Station& near, std::size_t offset, ConstBytes bytes) {
  (void)ask(&near, {.numbers = {interop::put, offset}, .bytes = copy_of(bytes)});
}

std::vector<std::byte> Remote::get(Station& near, std::size_t offset, std::size_t size_bytes) {
  return ask(&near, {.numbers = {interop::get, offset, size_bytes}}).bytes;
}

void Remote::post_receive(Station& near, std::uint64_t id, std::size_t offset,
                          std::size_t size_bytes) {
  const Message answer = ask(&near, {.numbers = {receive, id, offset, size_bytes}});
  REMORA_CHECK(answer.numbers[0] == fine, "the servant cannot post a receive");
}

WorkCompletion Remote::completion(Station& near) {
  const Message answer = ask(&near, {.numbers = {interop::completion}});
  if (answer.numbers[0] != fine) {
    return {.status = WorkStatus::general_error};
  }
  const auto& numbers = answer.numbers;
  return {.id = numbers[1],
          .status = static_cast<WorkStatus>(numbers[2]),
          .opcode = static_cast<Opcode>(numbers[3]),
          .has_immediate = numbers[4] != 0,
          .immediate = static_cast<std::uint32_t>(numbers[5]),
          .size_bytes = static_cast<std::uint32_t>(numbers[6])};
}

void Remote::forget_region(Station& near) {
  (void)ask(&near, {.numbers = {interop::forget}});
}

std::uint64_t Remote::lost(Station& near) {
  return ask(&near, {.numbers = {interop::lost}}).numbers[1];
}

}  // namespace remora::fabric::interop
