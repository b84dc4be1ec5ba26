#include "tests/fabric/party.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "pmem/open_region.h"

namespace remora::fabric::contract {

namespace {

constexpr std::uint64_t party_patience_ns = 20'000'000'000;

}  // namespace

Party::Party(nic::joined::MappedWireOptions options, AccessFlags access,
             std::unique_ptr<Region> given) {
  wire = std::move(nic::joined::MappedWire::create(loop, nullptr, std::move(options))).value();
  device = std::make_unique<nic::Nic>(loop, wire->wire(), dma);
  memory = given != nullptr ? std::move(given) : std::move(make_dram(party_bytes)).value();
  domain = device->create_domain();
  region = domain->register_memory(memory->bytes(), access, memory.get()).value();
  queue = device->create_completion_queue(256).value();
  qp = domain->create_queue_pair({.send_queue = queue.get(), .receive_queue = queue.get()}).value();
  (void)qp->initialise();
}

bool Party::connect(const Introduction& other) {
  peer = other;
  return qp->connect(other.address, {}).ok();
}

bool Party::run_until(const std::function<bool()>& holds) {
  const std::uint64_t end_ns = loop.after(party_patience_ns);
  while (!holds()) {
    if (loop.now_ns() > end_ns) {
      return false;
    }
    loop.turn();
  }
  return true;
}

bool Party::await_mapping() {
  wire->ask(qp->number(), peer.memory.key);
  return run_until([&] { return wire->is_mapped(qp->number(), peer.memory.key); });
}

SendWork Party::request(Opcode opcode, std::size_t offset, std::size_t size) {
  piece_ = region->piece(offset, size);
  SendWork work{.opcode = opcode,
                .remote = {peer.memory.address + offset, peer.memory.key},
                .flush_bytes = static_cast<std::uint32_t>(size)};
  if (opcode != Opcode::flush && opcode != Opcode::atomic_write) {
    work.pieces = std::span(&piece_, 1);
  }
  return work;
}

WorkStatus Party::run(const SendWork& work) {
  if (!qp->post_send(std::span(&work, 1)).ok()) {
    return WorkStatus::local_qp_operation_error;
  }
  WorkCompletion completion;
  const bool came = run_until([&] { return queue->poll(std::span(&completion, 1)) == 1; });
  return came ? completion.status : WorkStatus::general_error;
}

bool Child::Talk::put_bytes(const void* from, std::size_t size) const {
  return write(out, from, size) == static_cast<ssize_t>(size);
}

bool Child::Talk::get_bytes(void* to, std::size_t size) const {
  return read(in, to, size) == static_cast<ssize_t>(size);
}

Child::Child(const std::function<int(const Talk&)>& role) {
  int down[2];
  int up[2];
  REMORA_CHECK(pipe(down) == 0 && pipe(up) == 0, "cannot make pipes");
  const pid_t parent = getpid();
  pid_ = fork();
  REMORA_CHECK(pid_ >= 0, "cannot fork");
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(down[1]);
    close(up[0]);
    _exit(getppid() == parent ? role({down[0], up[1]}) : 1);
  }
  close(down[0]);
  close(up[1]);
  talk_ = {up[0], down[1]};
}

Child::~Child() {
  if (!ended_) {
    signal(SIGKILL);
    (void)await_end();
  }
  close(talk_.in);
  close(talk_.out);
}

void Child::signal(int number) const {
  REMORA_CHECK(!ended_ && kill(pid_, number) == 0, "cannot signal the child");
}

bool Child::await_stop() const {
  int status = 0;
  return waitpid(pid_, &status, WUNTRACED) == pid_ && WIFSTOPPED(status);
}

int Child::await_end() {
  int status = 0;
  while (waitpid(pid_, &status, 0) == pid_ && !WIFEXITED(status) && !WIFSIGNALED(status)) {
  }
  ended_ = true;
  return status;
}

}  // namespace remora::fabric::contract
