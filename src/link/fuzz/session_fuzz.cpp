#include "base/check.h"
#include "base/crc32c.h"
#include "link/fuzz/link_fuzz.h"
#include "link/session_message.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace remora::link {
namespace {

// What was understood means the same when it is said again.
void check_message(ConstBytes bytes) {
  const Result<SessionMessage> message = decode(bytes);
  if (!message.ok()) {
    REMORA_CHECK(message.code() == Code::unsupported || message.code() == Code::damaged,
                 "a message is refused for another reason");
    return;
  }
  REMORA_CHECK(message->service.size() <= session_format::service_bytes,
               "a service that is too long");
  REMORA_CHECK(message->design.size() <= session_format::design_bytes, "a design that is too long");
  REMORA_CHECK(message->text.size() <= session_format::text_bytes, "a text that is too long");
  REMORA_CHECK(message->facts.size() <= session_format::tail_bytes_max, "facts that are too long");
  const std::vector<std::byte> said = encode(*message);
  const Result<SessionMessage> again = decode(said);
  REMORA_CHECK(again.ok() && again->kind == message->kind && again->service == message->service &&
                   again->design == message->design && again->text == message->text &&
                   encode(*again) == said,
               "a message that is not read back");
}

}  // namespace

// As it is, and with the checksums that belong to it, which nobody finds by chance.
int fuzz_session(const std::uint8_t* data, std::size_t size) {
  using session_format::Message;
  std::vector<std::byte> bytes(size);
  std::ranges::copy(std::as_bytes(std::span(data, size)), bytes.begin());
  check_message(bytes);
  if (size < sizeof(Message)) {
    return 0;
  }
  Message message;
  std::memcpy(&message, bytes.data(), sizeof message);
  message.tail_bytes = static_cast<std::uint32_t>(size - sizeof message);
  message.tail_checksum = crc32c(ConstBytes(bytes).subspan(sizeof message));
  std::memcpy(bytes.data(), &message, sizeof message);
  message.checksum = crc32c(ConstBytes(bytes).first(offsetof(Message, checksum)));
  std::memcpy(bytes.data(), &message, sizeof message);
  check_message(bytes);
  return 0;
}

}  // namespace remora::link

#ifdef REMORA_FUZZER
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return remora::link::fuzz_session(data, size);
}
#endif
