#include "lab/measured/board.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <string>
#include <type_traits>

namespace remora::lab {
namespace {

// The parts are never destroyed, only unmapped.
static_assert(std::is_trivially_destructible_v<ServerPart> &&
              std::is_trivially_destructible_v<ClientPart>);
static_assert(std::atomic<Phase>::is_always_lock_free &&
              std::atomic<std::uint64_t>::is_always_lock_free);

template <std::size_t size>
void put_text(std::array<char, size>& field, std::string_view text) {
  field.fill('\0');
  std::ranges::copy(text.substr(0, size - 1), field.begin());
}

}  // namespace

void SharedStatus::set(const Status& status) {
  put_text(text_, status.message());
  code_.store(static_cast<std::uint32_t>(status.code()), std::memory_order_release);
}

Status SharedStatus::get() const {
  const auto code = static_cast<Code>(code_.load(std::memory_order_acquire));
  return code == Code::ok ? Status() : Status(code, std::string(text_.data()));
}

void ServerPart::publish(const std::vector<kv::StoreServer::Counter>& all) {
  for (std::size_t i = 0; i < std::min(all.size(), counters.size()); ++i) {
    put_text(counters[i].name, all[i].name);
    counters[i].value = all[i].value;
  }
}

Result<std::unique_ptr<Board>> Board::create(std::uint32_t clients) {
  const std::size_t size_bytes = sizeof(Shared) + clients * sizeof(ClientPart);
  void* memory =
      mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return os_failure("cannot get memory that the processes share", errno);
  }
  return std::unique_ptr<Board>(new Board(memory, size_bytes, clients));
}

Board::Board(void* memory, std::size_t size_bytes, std::uint32_t clients)
    : memory_(memory), size_bytes_(size_bytes), client_count_(clients) {
  static_assert(sizeof(Shared) % alignof(ClientPart) == 0);
  shared_ = new (memory) Shared();
  auto* at = static_cast<std::byte*>(memory) + sizeof(Shared);
  clients_ = reinterpret_cast<ClientPart*>(at);
  for (std::uint32_t i = 0; i < clients; ++i) {
    new (at + i * sizeof(ClientPart)) ClientPart();
  }
}

Board::~Board() {
  munmap(memory_, size_bytes_);
}

}  // namespace remora::lab
