#include "tests/lives/party.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace remora::fabric::lives {
namespace {

constexpr std::uint64_t hang_ns = 60'000'000'000;
constexpr std::byte go{1};
constexpr std::byte through{2};

}  // namespace

Party::Party(const WireKind& kind) : station_(kind.make(loop_, *this, 2 * area::size_bytes)) {
  domain_ = station_->device().create_domain();
  renew_memory();
  loop_.add_poller(*this);
}

Party::~Party() = default;

void Party::renew_memory() {
  region_.reset();
  Region* const persistence = station_->persistence();
  const AccessFlags access =
      persistence != nullptr ? every_access : every_access & ~AccessFlags{flush_persistence};
  region_ = domain_->register_memory(station_->memory(), access, persistence).value();
}

Line& Party::make_line(nic::LinkId link, const LineOptions& options) {
  lines_.push_back(std::make_unique<Line>(Line{.link = link, .area = area(options.area)}));
  Line& line = *lines_.back();
  line.sends = station_->device().create_completion_queue(256).value();
  line.receives = station_->device().create_completion_queue(256).value();
  line.qp = domain_
                ->create_queue_pair(
                    {.send_queue = line.sends.get(), .receive_queue = line.receives.get()})
                .value();
  REMORA_CHECK(line.qp->initialise().ok(), "a new queue pair can be initialised");
  return line;
}

Party::Introduction Party::introduce(const Line& line) const {
  return {.address = line.qp->address(),
          .target = {.area = region_->remote(line.area.begin()),
                     .added = line.area.word(area::add_word),
                     .swapped = line.area.word(area::swap_word)}};
}

// The peer is known: the load can be made, and the queue pair connected. It stays unconnected when
// the peer is gone by now.
void Party::meet(Line& line, const Introduction& peer) {
  line.peer = peer.target;
  const LineOptions& options = joining_ ? *joining_ : expected_;
  if (options.plan) {
    const Tools tools{*line.qp, *line.sends, *line.receives, *region_, line.area};
    line.load = std::make_unique<Load>(tools, peer.target, *options.plan);
    line.load->on_post = options.on_post;
    line.load->post_receives();
  }
  const ConnectOptions connect{
      .timeout_ns = options.timeout_ns, .retry_count = retry_count, .rnr_delay_ns = 20'000};
  line.connected = line.qp->connect(peer.address, connect).ok();
}

Result<Line*> Party::join(const std::string& path, const LineOptions& options) {
  REMORA_TRY_RESULT(link, station_->connect(path));
  joining_ = options;
  Line& line = make_line(*link, options);
  line.joined = true;
  const Introduction self = introduce(line);
  REMORA_TRY(station_->send_control(*link, std::as_bytes(std::span(&self, 1))));
  const bool met = run_until([&] { return line.connected; }, 20'000);
  joining_.reset();
  if (!met) {
    return Status(Code::timed_out, "the peer does not introduce itself");
  }
  REMORA_TRY(station_->send_control(*link, ConstBytes(&go, 1)));
  if (line.load && !run_until([&] { return line.load->begun() || links() == 0; }, 20'000)) {
    return Status(Code::timed_out, "the peer does not say that it begins");
  }
  if (line.load && !line.load->begun()) {
    line.load->begin();  // it was stopped before the answer, and cut off: what it posts fails
  }
  return &line;
}

void Party::control(nic::LinkId link, ConstBytes bytes) {
  Line* line = find(link);
  if (bytes.size() == sizeof(Introduction)) {
    Introduction peer;
    std::memcpy(&peer, bytes.data(), sizeof peer);
    if (line != nullptr) {
      meet(*line, peer);
      return;
    }
    line = &make_line(link, expected_);
    meet(*line, peer);
    const Introduction self = introduce(*line);
    (void)station_->send_control(link, std::as_bytes(std::span(&self, 1)));
  } else if (line != nullptr && bytes.front() == go) {
    if (!line->joined) {
      (void)station_->send_control(link, ConstBytes(&go, 1));
    }
    if (line->load) {
      line->load->begin();
    }
  } else if (line != nullptr && bytes.front() == through) {
    line->peer_is_through = true;
  }
}

Line* Party::find(nic::LinkId link) const {
  const auto found = std::find_if(lines_.begin(), lines_.end(),
                                  [&](const auto& line) { return line->link == link; });
  return found == lines_.end() ? nullptr : found->get();
}

Line* Party::arrived() const {
  if (lines_.empty()) {
    return nullptr;
  }
  Line& line = *lines_.back();
  return line.connected && (!line.load || line.load->begun()) ? &line : nullptr;
}

void Party::end(Line& line) {
  station_->cut_off(line.link);
  std::erase_if(lines_, [&](const auto& other) { return other.get() == &line; });
}

void Party::tell_through(const Line& line) {
  (void)station_->send_control(line.link, ConstBytes(&through, 1));
}

bool Party::poll() {
  bool worked = false;
  for (const std::unique_ptr<Line>& line : lines_) {
    worked |= line->load && line->load->pump();
  }
  return worked;
}

bool Party::run_until(const std::function<bool()>& holds, std::uint64_t step_ns) {
  const std::uint64_t end_ns = loop_.after(hang_ns);
  while (!holds()) {
    if (loop_.now_ns() > end_ns) {
      return false;
    }
    loop_.run_for(step_ns);
  }
  return true;
}

}  // namespace remora::fabric::lives
