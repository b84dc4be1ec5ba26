// PlainClient: what the clients of the plain engines have in common. An engine's put and get are
// flows made of these steps; del and scan are the same for all.
//
// Every flow begins with `co_await enter()`; the credit that it returns bounds operations in
// flight. Objects of these engines never move and their space is never used again while the server
// lives, so a reader that knows a place may READ it at any later time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "kv/buffers.h"
#include "kv/common/messages.h"
#include "kv/common/one_sided.h"
#include "kv/common/segment_keys.h"
#include "kv/log/object.h"
#include "kv/store.h"
#include "rpc/caller.h"
#include "runtime/semaphore.h"

namespace remora::kv {

class PlainClient : public StoreClient {
 public:
  PlainClient(std::unique_ptr<rpc::Caller> caller, std::unique_ptr<Buffers> buffers,
              const PlainLayout& layout, const ClientOptions& options);

  Task<Status> del(ConstBytes key) override;
  Task<Result<ScanCursor>> scan(ScanCursor from, std::size_t most_keys, ScanSink& sink) override;
  Status failure() const override { return caller_->failure(); }

  // Gets for which the server was asked.
  std::uint64_t asked_gets() const { return asked_gets_; }

 protected:
  class Credit {
   public:
    explicit Credit(Semaphore& credits) : credits_(&credits) {}
    Credit(Credit&& other) noexcept : credits_(std::exchange(other.credits_, nullptr)) {}
    Credit& operator=(Credit&&) = delete;
    Credit(const Credit&) = delete;
    Credit& operator=(const Credit&) = delete;
    ~Credit() {
      if (credits_ != nullptr) {
        credits_->release();
      }
    }

   private:
    Semaphore* credits_;
  };
  Task<Credit> enter();

  // --- Steps of a put.
  // Whether key and value can be put at all.
  Status check_put(ConstBytes key, ConstBytes value) const;
  // The value in registered memory.
  Task<Buffer> fill(ConstBytes value);
  // SEND-based RPC: space for the value.
  Task<Result<PutReply>> ask_for_space(rpc::CallSlot& slot, ConstBytes key, ConstBytes value,
                                       std::uint32_t client_sum);
  // WRITE, until it is acknowledged: which says neither that it is visible nor persistent.
  Task<Status> write(const Buffer& buffer, std::size_t size_bytes, fabric::RemoteAddress to);
  // SEND-based RPC: the server makes this version persistent.
  Task<Status> persist(rpc::CallSlot& slot, const PutReply& granted);

  // The whole of a client-active put: space, one-sided WRITE, and the server's promise only when it
  // is asked for. Some engines have the client's checksum in the object.
  enum class Checksum : std::uint8_t { none, by_client };
  Task<Status> put_client_active(ConstBytes key, ConstBytes value, Checksum checksum,
                                 PutOptions options);

  // --- Steps of a get.
  Task<Status> read(const Buffer& buffer, std::size_t size_bytes, fabric::RemoteAddress from) {
    return read_into(*caller_, buffer, size_bytes, from);
  }
  // SEND-based RPC: where the key's object is; offset 0 when there is none.
  Task<Result<GetReply>> ask(ConstBytes key);
  // READ what ask() found, and hand out its value.
  Task<Result<std::size_t>> read_found(const GetReply& found, ConstBytes key, Bytes value);
  // Two READs: the index, and the object that it leads to, which is trusted. `size` stays empty
  // when no entry leads to the key: a hash conflict, an index that has moved, or no such key.
  Task<Status> read_twice(ConstBytes key, Bytes value, std::optional<std::size_t>& size);
  // The whole of a get that trusts the index: two READs, or else ask and READ.
  Task<Result<std::size_t>> get_by_reads(ConstBytes key, Bytes value);

  // Learns where the index is now.
  Task<Status> refresh();
  Status broken(const fabric::WorkCompletion& completion) {
    return kv::broken(*caller_, completion);
  }
  // Whether in_pool() knows where these bytes are. If not, reach() learns it; the slot of a flow
  // that has one serves for asking.
  bool reaches(std::uint64_t offset, std::uint64_t size_bytes) const {
    return layout_.by_segment == 0 || segments_.find(offset, size_bytes).has_value();
  }
  Task<Status> reach(std::uint64_t offset, std::uint64_t size_bytes, rpc::CallSlot* slot = nullptr);
  // Requires that it reaches the place.
  fabric::RemoteAddress in_pool(std::uint64_t offset) const {
    return layout_.by_segment == 0
               ? fabric::RemoteAddress{layout_.pool.address + offset, layout_.pool.key}
               : segments_.find(offset, 1).value();
  }
  // Their keys may be others from here on.
  void forget_segments() { segments_.clear(); }
  rpc::Caller& caller() { return *caller_; }
  Buffers& buffers() { return *buffers_; }
  const Host& host() const { return host_; }
  const PlainLayout& layout() const { return layout_; }

 private:
  std::unique_ptr<rpc::Caller> caller_;
  std::unique_ptr<Buffers> buffers_;
  const Host& host_;
  PlainLayout layout_;
  SegmentTable segments_;
  Semaphore credits_;
  std::uint64_t asked_gets_ = 0;
};

}  // namespace remora::kv
