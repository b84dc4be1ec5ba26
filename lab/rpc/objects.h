// Objects: what the calls of a benchmark work on: objects of one size in persistent memory, which
// are read and written whole. A write copies its argument to the object, flushes that and drains
// before it answers: the way in which the rivals of the RDMA Flush paper make an argument
// persistent.
//
// A handler may have more to do, as the paper's "heavy" calls do: it waits, and others are handled
// meanwhile; or it works, and nobody is.
//
// One thread, the loop's. Nothing is allocated once as many calls have waited as ever do at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/host.h"
#include "rpc/server.h"

namespace remora::lab {

struct CallWork {
  enum class Kind : std::uint8_t { none, wait, spin };
  Kind kind = Kind::none;
  std::uint64_t span_ns = 0;

  bool operator==(const CallWork&) const = default;
};
// "none", "wait:100us", "spin:2ms".
Result<CallWork> parse_call_work(std::string_view text);
std::string to_string(const CallWork& work);

enum : rpc::Kind { read_object = 1, write_object = 2 };

// A request: the number of the object, and of a write its bytes.
inline constexpr std::size_t object_request_bytes = 8;

class Objects final : public rpc::Service {
 public:
  // The memory is of the host's region, and holds so many objects as fit.
  Objects(const Host& host, Bytes memory, std::size_t object_bytes, const CallWork& work);

  // Before requests come.
  void serve_by(rpc::Server& server) { server_ = &server; }
  rpc::Reply handle(const rpc::Session& session, std::uint32_t call, rpc::Kind kind,
                    ConstBytes request, Bytes body) override;

  std::uint64_t reads() const { return reads_; }
  std::uint64_t writes() const { return writes_; }
  // Calls whose handlers have not answered.
  std::size_t busy() const { return waits_.size() - unused_.size(); }

 private:
  // A handler that waits.
  class Wait final : public Timer {
   public:
    explicit Wait(Objects& objects) : objects_(objects) {}
    void expire() override { objects_.answer(*this); }

    Objects& objects_;
    rpc::SessionId session = 0;
    std::uint32_t call = 0;
    rpc::Reply reply;
    ConstBytes result;
  };

  void wait(const rpc::Session& session, std::uint32_t call, const rpc::Reply& reply,
            ConstBytes result);
  void answer(Wait& wait);
  void spin() const;

  const Host host_;
  const Bytes memory_;
  const std::size_t object_bytes_;
  const std::size_t stride_;
  const CallWork work_;
  rpc::Server* server_ = nullptr;
  std::vector<std::unique_ptr<Wait>> waits_;
  std::vector<Wait*> unused_;
  std::uint64_t reads_ = 0;
  std::uint64_t writes_ = 0;
};

// Memory for so many objects: each begins at a cache line.
constexpr std::size_t object_stride(std::size_t object_bytes) {
  return (object_bytes + 63) / 64 * 64;
}

}  // namespace remora::lab
