#include "lab/measured/nic/verbs_peer.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/socket_address.h"
#include "runtime/poll_loop.h"

namespace remora::lab {
namespace {

constexpr timeval socket_patience = {.tv_sec = 30, .tv_usec = 0};
constexpr int turns_between_looks = 64;

// What an initiator says first; the target makes its side by it.
struct Wishes {
  std::uint64_t size_bytes = 0;
  std::uint64_t depth = 0;
};

template <typename T>
Status put(int socket, const T& what) {
  return send(socket, &what, sizeof what, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof what)
             ? Status()
             : Status(Code::closed, "the other side of the benchmark is gone; see its message");
}

template <typename T>
Status get(int socket, T& what) {
  return recv(socket, &what, sizeof what, MSG_WAITALL) == static_cast<ssize_t>(sizeof what)
             ? Status()
             : Status(Code::closed, "the other side of the benchmark is gone; see its message");
}

// Both sides do the same, and go on when both are connected.
Status exchange(int socket, Side& side) {
  Introduction peer;
  REMORA_TRY(put(socket, side.introduction()));
  REMORA_TRY(get(socket, peer));
  REMORA_TRY(side.connect(peer));
  char ready = 1;
  REMORA_TRY(put(socket, ready));
  return get(socket, ready);
}

Result<std::unique_ptr<Side>> make_side(const fabric::verbs::VerbsOptions& options,
                                        std::uint64_t memory_bytes, std::uint64_t depth) {
  REMORA_TRY_RESULT(device, fabric::verbs::VerbsDevice::open(options));
  return Side::create(std::move(device).value(), memory_bytes, depth);
}

bool is_closed(int socket) {
  char ignored = 0;
  const ssize_t got = recv(socket, &ignored, 1, MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno != EAGAIN);
}

Status be_target(int socket, const fabric::verbs::VerbsOptions& device,
                 std::uint64_t memory_bytes) {
  Wishes wishes;
  REMORA_TRY(get(socket, wishes));
  REMORA_TRY_RESULT(side, make_side(device, memory_bytes, wishes.depth));
  if (wishes.size_bytes > memory_bytes) {
    return Status(Code::invalid_argument, "the initiator asks for more than the target has");
  }
  PollLoop loop;
  Replenisher replenisher(loop, **side, wishes.size_bytes, wishes.depth);
  REMORA_TRY(exchange(socket, **side));
  for (int turn = 0; turn % turns_between_looks != 0 || !is_closed(socket); ++turn) {
    loop.turn();
  }
  return Status();
}

// It has the same device, and says itself that there is none, or why it has gone.
bool is_said_by_initiator(Code code) {
  return code == Code::unsupported || code == Code::not_found || code == Code::closed;
}

Status set_patience(int socket) {
  return setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &socket_patience, sizeof socket_patience) == 0
             ? Status()
             : os_failure("cannot set a socket's time-out", errno);
}

// The first that comes to the address.
Result<int> accept_one(const std::string& text) {
  REMORA_TRY_RESULT(address, SocketAddress::parse(text));
  const int listener = socket(address->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const auto* name = reinterpret_cast<const sockaddr*>(&address->storage);
  if (listener < 0 || bind(listener, name, address->size_bytes) != 0 || listen(listener, 1) != 0) {
    const int error = errno;
    close(listener);
    return os_failure("cannot listen at " + text, error);
  }
  const int socket = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  const int error = errno;
  close(listener);
  if (socket < 0) {
    return os_failure("cannot take a connection at " + text, error);
  }
  return socket;
}

}  // namespace

Result<std::unique_ptr<VerbsPeer>> VerbsPeer::start_target(const VerbsBench& bench) {
  Result<std::unique_ptr<ChildTarget>> child = ChildTarget::start([&](int socket) {
    Status status = be_target(socket, bench.device, bench.memory_bytes);
    return is_said_by_initiator(status.code()) ? Status() : status;
  });
  REMORA_TRY(child.status());
  std::unique_ptr<VerbsPeer> peer(new VerbsPeer(std::move(child).value()));
  REMORA_TRY(set_patience(peer->socket_));
  return peer;
}

Result<std::unique_ptr<VerbsPeer>> VerbsPeer::reach(const std::string& text) {
  REMORA_TRY_RESULT(address, SocketAddress::parse(text));
  const int made = socket(address->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto* name = reinterpret_cast<const sockaddr*>(&address->storage);
  if (made < 0 || connect(made, name, address->size_bytes) != 0) {
    const int error = errno;
    close(made);
    return os_failure("cannot reach the target at " + text, error);
  }
  std::unique_ptr<VerbsPeer> peer(new VerbsPeer(made));
  REMORA_TRY(set_patience(made));
  return peer;
}

VerbsPeer::~VerbsPeer() {
  if (!child_) {
    close(socket_);
  }
}

Result<std::unique_ptr<Side>> VerbsPeer::introduce(const fabric::verbs::VerbsOptions& device,
                                                   std::uint64_t memory_bytes,
                                                   const VerbsBench& bench) {
  REMORA_TRY_RESULT(side, make_side(device, memory_bytes, bench.depth));
  const Wishes wishes = {.size_bytes = bench.size_bytes, .depth = bench.depth};
  REMORA_TRY(put(socket_, wishes));
  REMORA_TRY(exchange(socket_, **side));
  return side;
}

Status serve_initiator(const fabric::verbs::VerbsOptions& device, const std::string& address,
                       std::uint64_t memory_bytes) {
  // Said before anybody waits for somebody.
  if (auto there = fabric::verbs::VerbsDevice::open(device); !there.ok()) {
    return there.status();
  }
  REMORA_TRY_RESULT(socket, accept_one(address));
  const Status status = be_target(*socket, device, memory_bytes);
  close(*socket);
  return status;
}

std::vector<std::string> remarks_on(const Side& side) {
  std::vector<std::string> remarks;
  for (const fabric::Capability& capability : side.attributes().capabilities) {
    if (capability.support != fabric::Support::native) {
      remarks.push_back(side.attributes().name + ": " + capability.name +
                        " is emulated: " + capability.how);
    }
  }
  if (side.flush_placement() == fabric::FlushPlacement::visibility) {
    remarks.push_back(side.attributes().name +
                      ": FLUSH to visibility alone: the benchmark's memory is volatile, and the "
                      "device's FLUSH to persistence takes persistent memory");
  }
  return remarks;
}

}  // namespace remora::lab
