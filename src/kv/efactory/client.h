// EfactoryClient: the client half. Each operation is one flow.
//
//   put   ask for space; WRITE the value there; FLUSH it to visibility. The flow ends when every
//         later get sees the value; the server makes it persistent by itself.
//   put, whole
//         a small value, where messages are what costs: the value travels within the request, and
//         every later get sees it when that is answered. A persistent one is answered when it is
//         persistent.
//   put, persistent
//         a value that does not travel whole: ask for space; WRITE the value; ask the server to
//         make it persistent.
//   get   READ the window of the index; READ the object. When the index does not call it durable:
//         ask the server where a durable version is, and READ that.
//   get, whole
//         where messages are what costs: ask the server, whose answer has the value in it if that
//         is small, and otherwise says where it is.
//
// A put that takes longer than the server waits for a value fails with timed_out: the server may
// have given it up.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "kv/buffers.h"
#include "kv/common/one_sided.h"
#include "kv/common/segment_keys.h"
#include "kv/efactory/messages.h"
#include "kv/index/window.h"
#include "kv/log/object.h"
#include "kv/store.h"
#include "rpc/caller.h"
#include "runtime/flows.h"

namespace remora::kv::efactory {

class EfactoryClient final : public StoreClient {
 public:
  EfactoryClient(std::unique_ptr<rpc::Caller> caller, std::unique_ptr<Buffers> buffers,
                 const Layout& layout, const ClientOptions& options);
  ~EfactoryClient() override;

  Task<Status> put(ConstBytes key, ConstBytes value, PutOptions options) override;
  Task<Result<std::size_t>> get(ConstBytes key, Bytes value) override {
    return get_into(key, value, nullptr);
  }
  Task<Status> del(ConstBytes key) override;
  Task<Result<Versioned>> get_version(ConstBytes key, Bytes value) override;
  Task<Status> write_together(const MultiWrite& what, PutOptions options) override;
  Task<Result<ScanCursor>> scan(ScanCursor from, std::size_t most_keys, ScanSink& sink) override;
  Task<Status> copy(CopySink& sink) override;
  Status failure() const override { return caller_->failure(); }

  // Gets that were answered by READs alone, and those for which the server was asked.
  std::uint64_t pure_gets() const { return pure_gets_; }
  std::uint64_t asked_gets() const { return asked_gets_; }
  // Values that failed their checksums when they were READ.
  std::uint64_t failed_checks() const { return failed_checks_; }

 private:
  // How long one waits before it asks again, at first and at most.
  static constexpr std::uint64_t retry_ns = 20'000;
  static constexpr std::uint64_t longest_retry_ns = 80'000;

  // Counts an operation under the layout that it began with. It has one of the client's credits,
  // which it gives back.
  class Operation {
   public:
    explicit Operation(EfactoryClient& client) : client_(client), side_(client.side_) {
      ++client_.under_way_[side_];
    }
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;
    ~Operation() {
      client_.credits_.release();
      if (--client_.under_way_[side_] == 0) {
        client_.maybe_arrive();
      }
    }

    std::size_t side() const { return side_; }

   private:
    EfactoryClient& client_;
    const std::size_t side_;
  };

  // `checked`: the server verifies what it tells of.
  Task<Result<std::size_t>> get_into(ConstBytes key, Bytes value, std::uint64_t* version);
  Task<Result<std::size_t>> ask_and_read(const Operation& operation, ConstBytes key, Bytes value,
                                         bool checked, std::uint64_t* version);
  // Whether it is what was put, as far as this client wants to know.
  bool passes(const ReadObject& object) {
    return !is_verified(options_.verify_reads, object.value.size(), options_.verified_bytes) ||
           is_intact(object);
  }
  bool is_intact(const ReadObject& object);
  Place newest(const Window::Candidate& candidate, Reads reads) const;
  Place trusted(const Window::Candidate& candidate, Reads reads) const;
  bool answers(const ReadObject& object, ConstBytes key) const;
  Task<Status> try_put(ConstBytes key, ConstBytes value, PutOptions options);
  Task<Status> try_put_whole(ConstBytes key, ConstBytes value, PutOptions options);
  // Several keys at once (client_together.cpp).
  Task<Status> write_until(const MultiWrite& what, PutOptions options);
  Task<Status> send_packed(ConstBytes packed, PutOptions options);
  // Copies (client_copy.cpp).
  Task<Result<std::vector<SnapshotSegment>>> ask_snapshot(std::uint64_t& id);
  Task<Status> still_stands(std::uint64_t id, std::uint64_t& round);
  Task<Status> read_segment(SnapshotSegment segment, std::uint64_t id, std::uint64_t& round,
                            std::vector<std::byte>& image);
  Task<void> give_snapshot_back();
  Task<Status> read(const Buffer& buffer, std::size_t size_bytes, fabric::RemoteAddress from) {
    return read_into(*caller_, buffer, size_bytes, from);
  }
  Status broken(const fabric::WorkCompletion& completion) {
    return kv::broken(*caller_, completion);
  }
  void noticed(rpc::Kind kind, ConstBytes body);
  void maybe_arrive();
  Task<void> arrive(std::uint64_t round);
  // Where these bytes are, if this operation has a key for them: it learns those of all segments
  // otherwise.
  std::optional<fabric::RemoteAddress> in_pool(const Operation& operation, std::uint64_t offset,
                                               std::uint64_t size_bytes) const {
    if (layout_.by_segment == 0) [[likely]] {
      return fabric::RemoteAddress{layout_.pool.address + offset, layout_.pool.key};
    }
    return segments_[operation.side()].find(offset, size_bytes);
  }
  Task<Status> learn_segments(rpc::CallSlot& slot, const Operation& operation);
  // The same with a slot of its own; for a flow that has none.
  Task<Result<fabric::RemoteAddress>> learn_place(const Operation& operation, std::uint64_t offset,
                                                  std::uint64_t size_bytes);

  std::unique_ptr<rpc::Caller> caller_;
  std::unique_ptr<Buffers> buffers_;
  const Host& host_;
  const ClientOptions options_;
  Layout layout_;
  std::array<SegmentTable, 2> segments_;   // by side
  std::array<std::uint64_t, 2> rounds_{};  // of the layout that operations of a side began under
  const std::uint64_t whole_value_bytes_;  // up to which values travel within requests
  const bool whole_gets_;                  // and within the answers to gets
  Semaphore credits_;                      // for operations in flight
  Semaphore parts_;                        // for one write that takes several messages
  std::array<std::uint64_t, 2> under_way_ = {};  // operations, by the side that they began on
  std::size_t side_ = 0;                         // of operations that begin now
  bool arriving_ = false;                        // a layout came that was not answered
  bool listening_ = false;                       // notices from before have been handed over
  std::uint64_t pure_gets_ = 0;
  std::uint64_t asked_gets_ = 0;
  std::uint64_t failed_checks_ = 0;
  Flows flows_;
};

}  // namespace remora::kv::efactory
