#include "tests/fabric/far_machine.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include "pmem/open_region.h"

namespace remora::fabric::contract {

using interop::Message;

namespace {

constexpr int patience_ms = 100'000;  // an emulated machine on a busy one takes its time

std::uint64_t number_of(const std::byte* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}

// One object that the agent keeps.
class FarObject {
 public:
  FarObject(FarTalk& talk, std::uint64_t number) : talk_(talk), number_(number) {}
  FarObject(const FarObject&) = delete;
  FarObject& operator=(const FarObject&) = delete;
  ~FarObject() { (void)talk_.told({.numbers = {far::destroy, number_}}); }

  FarTalk& talk() const { return talk_; }
  std::uint64_t number() const { return number_; }
  Result<Message> ask(far::Order order, std::vector<std::byte> bytes = {}) const {
    return talk_.ask({.numbers = {order, number_}, .bytes = std::move(bytes)});
  }
  // An answer of one number.
  std::uint64_t value(far::Order order) const {
    return talk_.told({.numbers = {order, number_}}).numbers[1];
  }

 private:
  FarTalk& talk_;
  const std::uint64_t number_;
};

class FarRegion final : public MemoryRegion {
 public:
  FarRegion(FarTalk& talk, const Message& made, Bytes bytes, AccessFlags access)
      : object_(talk, made.numbers[1]),
        bytes_(bytes),
        local_key_(static_cast<LocalKey>(made.numbers[2])),
        remote_key_(static_cast<RemoteKey>(made.numbers[3])),
        access_(access) {}

  Bytes bytes() const override { return bytes_; }
  LocalKey local_key() const override { return local_key_; }
  RemoteKey remote_key() const override { return remote_key_; }
  AccessFlags access() const override { return access_; }

 private:
  const FarObject object_;
  const Bytes bytes_;
  const LocalKey local_key_;
  const RemoteKey remote_key_;
  const AccessFlags access_;
};

// Completions come by themselves, as the agent polls them; so there is nothing to be woken by.
class FarQueue final : public CompletionQueue {
 public:
  FarQueue(FarTalk& talk, std::uint64_t number) : object_(talk, number) {}
  ~FarQueue() override { object_.talk().forget(object_.number()); }

  std::uint64_t number() const { return object_.number(); }
  std::size_t poll(std::span<WorkCompletion> out) override {
    std::deque<WorkCompletion>& arrived = object_.talk().arrived(object_.number());
    const std::size_t count = std::min(out.size(), arrived.size());
    const auto end = arrived.begin() + static_cast<std::ptrdiff_t>(count);
    std::copy(arrived.begin(), end, out.begin());
    arrived.erase(arrived.begin(), end);
    return count;
  }
  void arm(bool) override {}
  std::uint64_t event_count() const override { return 0; }
  bool overrun() const override { return object_.value(far::overrun) != 0; }

 private:
  const FarObject object_;
};

template <typename Work>
std::vector<std::byte> bytes_of(const Work& work) {
  far::Writer writer;
  writer(work);
  for (const Sge& piece : work.pieces) {
    writer(piece);
  }
  return writer.bytes();
}

class FarPair final : public QueuePair {
 public:
  FarPair(FarTalk& talk, std::uint64_t number) : object_(talk, number) {}

  QpNumber number() const override { return address().number; }
  QpState state() const override { return static_cast<QpState>(object_.value(far::state)); }
  QueuePairAddress address() const override {
    QueuePairAddress address;
    const Message answer = object_.talk().told({.numbers = {far::address, object_.number()}});
    far::Reader reader(answer.bytes);
    reader(address);
    return address;
  }
  Status initialise() override { return object_.ask(far::initialise).status(); }
  Status connect(const QueuePairAddress& peer, const ConnectOptions& options) override {
    return object_.ask(far::connect, far::Writer()(peer)(options).bytes()).status();
  }
  void fail() override { (void)object_.value(far::fail); }
  void reset() override { (void)object_.value(far::reset); }
  bool quiet() const override { return object_.value(far::quiet) != 0; }

  Status post_receive(std::span<const ReceiveWork> works) override {
    return post_all(far::post_receive, works);
  }

 private:
  Status post_sends(std::span<const SendWork> works) override {
    return post_all(far::post_send, works);
  }
  bool execute(const SendWork&) override { return false; }
  template <typename Work>
  Status post_all(far::Order order, std::span<const Work> works) {
    for (const Work& work : works) {
      REMORA_TRY(object_.ask(order, bytes_of(work)).status());
    }
    return Status();
  }

  const FarObject object_;
};

class FarDomain final : public ProtectionDomain {
 public:
  FarDomain(FarTalk& talk, std::uint64_t number) : object_(talk, number) {}

  Result<std::unique_ptr<MemoryRegion>> register_memory(Bytes bytes, AccessFlags access,
                                                        Region* persistence) override {
    Message order{.numbers = {far::register_memory, object_.number(), number_of(bytes.data()),
                              bytes.size(), access, persistence == nullptr ? 0u : 1u}};
    const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
    if (persistence == nullptr &&
        !std::all_of(bytes.data(), bytes.data() + bytes.size(), is_zero)) {
      order.bytes.assign(bytes.begin(), bytes.end());
    }
    REMORA_TRY_RESULT(made, object_.talk().ask(order));
    return std::unique_ptr<MemoryRegion>(
        std::make_unique<FarRegion>(object_.talk(), *made, bytes, access));
  }

  Result<std::unique_ptr<QueuePair>> create_queue_pair(const QueuePairOptions& options) override {
    REMORA_TRY_RESULT(
        made,
        object_.talk().ask({.numbers = {far::create_pair, object_.number(),
                                        static_cast<FarQueue&>(*options.send_queue).number(),
                                        static_cast<FarQueue&>(*options.receive_queue).number()},
                            .bytes = far::Writer()(options).bytes()}));
    return std::unique_ptr<QueuePair>(std::make_unique<FarPair>(object_.talk(), made->numbers[1]));
  }

 private:
  const FarObject object_;
};

}  // namespace

bool FarTalk::hear(Message& answer) {
  for (;;) {
    Result<std::optional<Message>> heard = talk_.hear();
    REMORA_CHECK(heard.ok(), "the agent of the far machine hung up");
    if (!*heard) {
      return false;
    }
    if ((*heard)->numbers[0] != far::completions) {
      answer = std::move(**heard);
      return true;
    }
    const auto came = far::Reader((*heard)->bytes).all<WorkCompletion>();
    std::deque<WorkCompletion>& queue = arrived_[(*heard)->numbers[1]];
    queue.insert(queue.end(), came.begin(), came.end());
  }
}

Result<Message> FarTalk::ask(const Message& order) {
  REMORA_CHECK(talk_.say(order).ok(), "the agent of the far machine is gone");
  Message answer;
  while (!hear(answer)) {
    REMORA_CHECK(talk_.wait(patience_ms), "the agent of the far machine does not answer");
  }
  if (answer.numbers[0] == far::refused) {
    return Status(static_cast<Code>(answer.numbers[1]), std::string(as_text(answer.bytes)));
  }
  return answer;
}

Message FarTalk::told(const Message& order) {
  Result<Message> answer = ask(order);
  REMORA_CHECK(answer.ok(), "the agent of the far machine refuses an order");
  return std::move(answer).value();
}

std::deque<WorkCompletion>& FarTalk::arrived(std::uint64_t queue) {
  Message none;
  REMORA_CHECK(!hear(none), "an answer that nobody asked for");
  return arrived_[queue];
}

Result<std::unique_ptr<FarMachine>> FarMachine::open(FarTalk& talk, verbs::FlushMethod flush) {
  REMORA_TRY_RESULT(
      opened, talk.ask({.numbers = {far::open_device, 0, static_cast<std::uint64_t>(flush)}}));
  std::unique_ptr<FarMachine> machine(new FarMachine(talk));
  far::Reader reader(opened->bytes);
  pass(reader, machine->attributes_);
  const std::size_t size = opened->numbers[2];
  void* const place = reinterpret_cast<void*>(opened->numbers[1]);
  void* const mapped = mmap(place, size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (mapped != place) {
    return os_failure("far's memory is at a place that is taken on this machine; run it again",
                      errno);
  }
  machine->copy_ = Bytes(static_cast<std::byte*>(mapped), size);
  REMORA_TRY_RESULT(region, adopt_mapping(machine->copy_));
  machine->region_ = std::move(region).value();
  return machine;
}

FarMachine::~FarMachine() {
  (void)talk_.told({.numbers = {far::close_device}});
  region_.reset();
  if (!copy_.empty()) {
    munmap(copy_.data(), copy_.size());
  }
}

DeviceCounters FarMachine::counters() const {
  DeviceCounters counters;
  const Message answer = talk_.told({.numbers = {far::counters}});
  far::Reader reader(answer.bytes);
  reader(counters);
  return counters;
}

std::unique_ptr<ProtectionDomain> FarMachine::create_domain() {
  return std::make_unique<FarDomain>(talk_,
                                     talk_.told({.numbers = {far::create_domain}}).numbers[1]);
}

Result<std::unique_ptr<CompletionQueue>> FarMachine::create_completion_queue(
    std::uint32_t capacity) {
  REMORA_TRY_RESULT(made, talk_.ask({.numbers = {far::create_queue, 0, capacity}}));
  return std::unique_ptr<CompletionQueue>(std::make_unique<FarQueue>(talk_, made->numbers[1]));
}

ConstBytes FarMachine::look(Bytes bytes) {
  const Message answer =
      talk_.told({.numbers = {far::look, 0, number_of(bytes.data()), bytes.size()}});
  REMORA_CHECK(answer.bytes.size() == bytes.size(), "another size than was asked for");
  std::ranges::copy(answer.bytes, bytes.begin());
  return bytes;
}

void FarMachine::changed(ConstBytes bytes) {
  (void)talk_.told({.numbers = {far::change, 0, number_of(bytes.data())},
                    .bytes = {bytes.begin(), bytes.end()}});
}

void FarMachine::fall_silent() {
  (void)talk_.told({.numbers = {far::silence}});
}

}  // namespace remora::fabric::contract
