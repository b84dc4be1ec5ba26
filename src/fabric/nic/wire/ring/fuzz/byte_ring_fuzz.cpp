// A ring whose peer writes arbitrary words to shared memory between any two steps. Both ends must
// keep within their bounds and come to an end, whatever they read.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "fabric/nic/wire/ring/byte_ring.h"

namespace remora::fabric::nic::ring {
namespace {

constexpr std::size_t capacity_bytes = 1024;
constexpr std::size_t max_packet_bytes = 320;

struct Memory {
  RingControl control = {};
  alignas(128) std::byte data[capacity_bytes] = {};
  std::byte lent[max_packet_bytes] = {};
};

// One step takes six bytes of input: what, where, and a word.
constexpr std::size_t step_bytes = 6;

void run(ConstBytes input) {
  const auto memory = std::make_unique<Memory>();
  RingProducer producer(memory->control, memory->data, max_packet_bytes);
  RingConsumer consumer(memory->control, memory->data, max_packet_bytes);
  for (; input.size() >= step_bytes; input = input.subspan(step_bytes)) {
    const auto where = std::to_integer<std::size_t>(input[1]);
    const auto word = load<std::uint32_t>(&input[2]);
    switch (std::to_integer<unsigned>(input[0]) % 5) {
      case 0:
        byte_ring::size_word(memory->data, where * 4 % capacity_bytes).store(word);
        break;
      case 1:
        memory->control.consumed = where < 128 ? word : std::uint64_t{word} << 32 | word;
        break;
      case 2: {
        static constexpr std::byte rider[byte_ring::rider_bytes] = {};
        const bool rides = word % max_packet_bytes + 1 + sizeof rider <= max_packet_bytes;
        const Bytes room = producer.reserve(word % max_packet_bytes + 1,
                                            rides && where % 2 != 0 ? rider : ConstBytes());
        std::fill(room.begin(), room.end(), std::byte{0xff});
        if (!room.empty() && where % 4 == 2) {
          const std::size_t lent_bytes = where % room.size();
          (void)producer.lend({.size_bytes = static_cast<std::uint32_t>(lent_bytes)},
                              ConstBytes(memory->lent).first(lent_bytes));
        }
        producer.commit();
        break;
      }
      case 3:
        producer.recall();
        break;
      default: {
        const ConstBytes packet = consumer.peek();
        REMORA_CHECK(packet.size() <= max_packet_bytes, "a packet that cannot be");
        if (!packet.empty()) {
          volatile std::byte last = packet.back();
          if (const ConstBytes rider = consumer.rider(); !rider.empty()) {
            last = rider.back();
          }
          REMORA_CHECK(!consumer.has_loan() || consumer.rider().empty(), "a record that cannot be");
          if (consumer.loan()) {
            (void)consumer.is_out();
          }
          (void)last;
          (void)consumer.consume();
        }
      }
    }
  }
}

}  // namespace
}  // namespace remora::fabric::nic::ring

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  remora::fabric::nic::ring::run(std::as_bytes(std::span(data, size)));
  return 0;
}
