// The far machine of a contract test between two: has an RDMA device and memory, and does with them
// what near says (far_orders.h). One caller, until it hangs up; several tests, each of which has
// the device opened anew.
//
//   fabric_far_agent PORT [DEVICE [DAX]]
//     DEVICE   the RDMA device; the first unless given
//     DAX      persistent memory without a file system, for a device that flushes itself
#include <fmt/core.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>

#include "fabric/verbs/verbs_device.h"
#include "pmem/open_region.h"
#include "tests/fabric/device_dax.h"
#include "tests/fabric/far_memory.h"
#include "tests/fabric/far_orders.h"
#include "tests/vm/interop/talk.h"

namespace remora::fabric::contract {
namespace {

using interop::Message;
using interop::Talk;

// Memory at the addresses that near has it at.
class Pages {
 public:
  // Maps what is not there yet.
  Status have(std::uint64_t address, std::size_t size) {
    const std::uint64_t end = address + size;
    for (std::uint64_t page = round_down(address); page < end; page += page_bytes) {
      if (pages_.contains(page)) {
        continue;
      }
      void* const place = reinterpret_cast<void*>(page);
      if (mmap(place, page_bytes, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != place) {
        return os_failure("near's memory is at a place that is taken here; run it again", errno);
      }
      pages_.insert(page);
    }
    return Status();
  }
  bool has(std::uint64_t address, std::size_t size) const {
    const std::uint64_t end = address + size;
    for (std::uint64_t page = round_down(address); page < end; page += page_bytes) {
      if (!pages_.contains(page)) {
        return false;
      }
    }
    return true;
  }

 private:
  static std::uint64_t round_down(std::uint64_t address) {
    return address / page_bytes * page_bytes;
  }

  std::set<std::uint64_t> pages_;
};

// What a CPU sees there: by whole words, and the last one first. So whoever finds a later byte in
// it knows that an earlier one, if it lacks, was not there when the later one was.
std::vector<std::byte> seen(const std::byte* begin, std::size_t size) {
  std::vector<std::byte> copy(size);
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  std::uintptr_t end = first + size;
  while (end > first) {
    const std::uintptr_t word = (end - 1) / word_bytes * word_bytes;
    const std::uint64_t value = *reinterpret_cast<const volatile std::uint64_t*>(word);
    const std::uintptr_t from = std::max(word, first);
    std::memcpy(copy.data() + (from - first),
                reinterpret_cast<const std::byte*>(&value) + (from - word), end - from);
    end = from;
  }
  return copy;
}

Message refusal(const Status& status) {
  const ConstBytes reason = as_bytes(status.message());
  return {.numbers = {far::refused, static_cast<std::uint64_t>(status.code())},
          .bytes = {reason.begin(), reason.end()}};
}

Message answer_to(const Status& status) {
  return status.ok() ? Message{} : refusal(status);
}

class Agent {
 public:
  Agent(std::string device, std::string dax)
      : device_name_(std::move(device)), dax_(std::move(dax)) {}

  Message obey(const Message& order);
  // What came into the queues.
  Status tell_completions(Talk& talk);

 private:
  template <typename T>
  using Table = std::map<std::uint64_t, std::unique_ptr<T>>;

  template <typename T>
  static T& the(const Table<T>& table, std::uint64_t number) {
    const auto found = table.find(number);
    REMORA_CHECK(found != table.end(), "an order for an object that is not there");
    return *found->second;
  }
  template <typename T>
  Message keep(Table<T>& table, Result<std::unique_ptr<T>> made) {
    if (!made.ok()) {
      return refusal(made.status());
    }
    table[++last_number_] = std::move(made).value();
    return {.numbers = {far::fine, last_number_}};
  }

  void close();
  Message open(verbs::FlushMethod flush);
  Message register_memory(const Message& order);
  Message create_pair(const Message& order);
  Message for_pair(const Message& order);
  Message for_memory(const Message& order);

  const std::string device_name_;
  const std::string dax_;
  std::uint64_t last_number_ = 0;
  Pages pages_;
  std::unique_ptr<Region> memory_;
  std::unique_ptr<verbs::VerbsDevice> device_;
  Table<ProtectionDomain> domains_;
  Table<MemoryRegion> regions_;
  Table<CompletionQueue> queues_;
  Table<QueuePair> pairs_;
};

void Agent::close() {
  pairs_.clear();
  queues_.clear();
  regions_.clear();
  domains_.clear();
  device_.reset();
  memory_.reset();
}

Message Agent::open(verbs::FlushMethod flush) {
  close();
  auto device = verbs::VerbsDevice::open({.device = device_name_, .flush = flush});
  if (!device.ok()) {
    return refusal(device.status());
  }
  if (flush == verbs::FlushMethod::native) {
    if (dax_.empty()) {
      return refusal(Status(Code::unsupported,
                            "a device's FLUSH takes persistent memory alone, "
                            "and the agent was given none"));
    }
    memory_ = std::make_unique<DeviceDax>(dax_, far_bytes);
  } else {
    memory_ = std::move(make_dram(far_bytes)).value();
  }
  device_ = std::move(device).value();
  DeviceAttributes attributes = device_->attributes();
  far::Writer writer;
  pass(writer, attributes);
  const Bytes bytes = memory_->bytes();
  return {.numbers = {far::fine, reinterpret_cast<std::uintptr_t>(bytes.data()), bytes.size()},
          .bytes = writer.bytes()};
}

Message Agent::register_memory(const Message& order) {
  const auto& [kind, domain, address, size, access, is_far_memory, none, nothing] = order.numbers;
  const Bytes bytes(reinterpret_cast<std::byte*>(address), size);
  if (is_far_memory == 0) {
    if (const Status status = pages_.have(address, size); !status.ok()) {
      return refusal(status);
    }
    if (order.bytes.empty()) {
      std::memset(bytes.data(), 0, size);
    } else {
      std::ranges::copy(order.bytes, bytes.begin());
    }
  }
  Message answer =
      keep(regions_, the(domains_, domain)
                         .register_memory(bytes, static_cast<AccessFlags>(access),
                                          is_far_memory == 0 ? nullptr : memory_.get()));
  if (answer.numbers[0] == far::fine) {
    const MemoryRegion& made = the(regions_, answer.numbers[1]);
    answer.numbers[2] = made.local_key();
    answer.numbers[3] = made.remote_key();
  }
  return answer;
}

Message Agent::create_pair(const Message& order) {
  QueuePairOptions options;
  far::Reader reader(order.bytes);
  reader(options);
  options.send_queue = &the(queues_, order.numbers[2]);
  options.receive_queue = &the(queues_, order.numbers[3]);
  return keep(pairs_, the(domains_, order.numbers[1]).create_queue_pair(options));
}

Message Agent::for_pair(const Message& order) {
  QueuePair& pair = the(pairs_, order.numbers[1]);
  far::Reader reader(order.bytes);
  switch (order.numbers[0]) {
    case far::initialise:
      return answer_to(pair.initialise());
    case far::connect: {
      QueuePairAddress peer;
      ConnectOptions options;
      reader(peer)(options);
      return answer_to(pair.connect(peer, options));
    }
    case far::fail:
      pair.fail();
      return {};
    case far::reset:
      pair.reset();
      return {};
    case far::state:
      return {.numbers = {far::fine, static_cast<std::uint64_t>(pair.state())}};
    case far::address:
      return {.bytes = far::Writer()(pair.address()).bytes()};
    case far::quiet:
      return {.numbers = {far::fine, pair.quiet() ? 1u : 0u}};
    case far::post_send: {
      SendWork work;
      reader(work);
      const std::vector<Sge> pieces = reader.all<Sge>();
      work.pieces = pieces;
      return answer_to(pair.post_send(std::span(&work, 1)));
    }
    default: {
      ReceiveWork work;
      reader(work);
      const std::vector<Sge> pieces = reader.all<Sge>();
      work.pieces = pieces;
      return answer_to(pair.post_receive(std::span(&work, 1)));
    }
  }
}

Message Agent::for_memory(const Message& order) {
  const std::uint64_t address = order.numbers[2];
  const bool looks = order.numbers[0] == far::look;
  const std::size_t size = looks ? order.numbers[3] : order.bytes.size();
  auto* const begin = reinterpret_cast<std::byte*>(address);
  const Bytes own = memory_->bytes();
  const bool is_own = begin >= own.data() && begin + size <= own.data() + own.size();
  if (!is_own && !pages_.has(address, size)) {
    return refusal(Status(Code::invalid_argument, "no memory of far's"));
  }
  if (looks) {
    return {.bytes = seen(begin, size)};
  }
  std::copy(order.bytes.data(), order.bytes.data() + size, begin);
  return {};
}

Message Agent::obey(const Message& order) {
  const auto& numbers = order.numbers;
  if (numbers[0] == far::open_device) {
    return open(static_cast<verbs::FlushMethod>(numbers[2]));
  }
  if (numbers[0] == far::close_device) {
    close();
    return {};
  }
  REMORA_CHECK(device_ != nullptr, "the first order is to open");
  switch (numbers[0]) {
    case far::create_domain:
      return keep(domains_, Result<std::unique_ptr<ProtectionDomain>>(device_->create_domain()));
    case far::register_memory:
      return register_memory(order);
    case far::create_queue:
      return keep(queues_,
                  device_->create_completion_queue(static_cast<std::uint32_t>(numbers[2])));
    case far::create_pair:
      return create_pair(order);
    case far::destroy:
      pairs_.erase(numbers[1]);
      queues_.erase(numbers[1]);
      regions_.erase(numbers[1]);
      domains_.erase(numbers[1]);
      return {};
    case far::overrun:
      return {.numbers = {far::fine, the(queues_, numbers[1]).overrun() ? 1u : 0u}};
    case far::counters:
      return {.bytes = far::Writer()(device_->counters()).bytes()};
    case far::look:
    case far::change:
      return for_memory(order);
    case far::silence:
      device_->fall_silent();
      return {};
    default:
      return for_pair(order);
  }
}

Status Agent::tell_completions(Talk& talk) {
  for (const auto& [number, queue] : queues_) {
    WorkCompletion polled[64];
    while (const std::size_t count = queue->poll(polled)) {
      const ConstBytes bytes = std::as_bytes(std::span(polled).first(count));
      REMORA_TRY(
          talk.say({.numbers = {far::completions, number}, .bytes = {bytes.begin(), bytes.end()}}));
    }
  }
  return Status();
}

// Completions are looked for between orders, and so often besides.
constexpr int turn_ms = 1;

Status serve(Agent& agent, Talk talk) {
  for (;;) {
    Result<std::optional<Message>> heard = talk.hear();
    if (!heard.ok()) {
      return heard.code() == Code::closed ? Status() : heard.status();
    }
    if (*heard) {
      REMORA_TRY(talk.say(agent.obey(**heard)));
    } else {
      (void)talk.wait(turn_ms);
    }
    REMORA_TRY(agent.tell_completions(talk));
  }
}

int run(std::uint16_t port, const std::string& device, const std::string& dax) {
  Result<Talk> talk = Talk::await_call(port);
  Agent agent(device, dax);
  const Status status = talk.ok() ? serve(agent, std::move(talk).value()) : talk.status();
  if (!status.ok()) {
    fmt::print(stderr, "{}\n", status.message());
  }
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace remora::fabric::contract

int main(int count, char** words) {
  const int port = count > 1 ? std::atoi(words[1]) : 0;
  if (port <= 0 || port > 65'535 || count > 4) {
    fmt::print(stderr, "usage: fabric_far_agent PORT [DEVICE [DAX]]\n");
    return 2;
  }
  return remora::fabric::contract::run(static_cast<std::uint16_t>(port), count > 2 ? words[2] : "",
                                       count > 3 ? words[3] : "");
}
