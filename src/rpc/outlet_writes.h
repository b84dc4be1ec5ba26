// WriteOutlet: answers that are WRITTEN into the client's slots (slots.h), one for each call in
// flight; with IMM where the client waits for completions.
//
// There is one place for each slot. It is used anew when the client's next call in that slot comes,
// which a client makes when it has the answer: then the bytes have left. One that does not keep to
// that spoils its own answers.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "rpc/outlet.h"
#include "rpc/slots.h"

namespace remora::rpc {

struct WriteOutletOptions {
  std::uint32_t most_clients = 64;
  std::uint32_t window = 1;
  std::size_t body_bytes = 4096;
  bool with_imm = false;
};

class WriteOutlet : public Outlet {
 public:
  // Who is told that a READ of this side has ended.
  class Reads {
   public:
    virtual void read_ended(SessionId session, std::uint32_t index, bool succeeded) = 0;

   protected:
    ~Reads() = default;
  };

  static Result<std::unique_ptr<WriteOutlet>> create(fabric::Device& device,
                                                     const WriteOutletOptions& options);

  // For an inlet that READs on the clients' queue pairs, by requests whose ids are those of
  // connection.h; it has as many on their way as there are slots.
  void tell_of_reads(Reads& reads) { reads_ = &reads; }

  void ask(fabric::QueuePairOptions& options) override;
  Status open(Connection& client, const Introduction& theirs, Introduction& ours) override;
  void close(Connection& client) override;
  bool collect(Broken& broken) override;
  Place take(Connection& client, std::uint32_t call) override;
  void give_back(Connection&, std::uint32_t) override {}
  Bytes body(Connection& client, std::uint32_t index) override;
  Status send(Connection& client, std::uint32_t index, const MessageHead& head) override;

 private:
  static constexpr std::size_t most_polled = 64;
  struct Side {
    std::vector<std::byte> memory;
    std::unique_ptr<fabric::MemoryRegion> region;
    fabric::RemoteAddress theirs;
  };

  WriteOutlet(const WriteOutletOptions& options, std::unique_ptr<fabric::CompletionQueue> sends)
      : options_(options), sends_(std::move(sends)), sides_(options.most_clients) {}

  static std::uint32_t sends_of(std::uint32_t window) { return 8 * window + 16; }
  std::size_t stride() const { return slot_bytes_for(options_.body_bytes); }

  const WriteOutletOptions options_;
  std::unique_ptr<fabric::CompletionQueue> sends_;
  std::vector<Side> sides_;  // by place
  Reads* reads_ = nullptr;
  std::array<fabric::WorkCompletion, most_polled> sent_;
};

}  // namespace remora::rpc
