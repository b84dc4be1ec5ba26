#include "tests/vm/interop/station.h"

#include <fmt/core.h>
#include <sched.h>

#include "pmem/open_region.h"
#include "tests/fabric/device_dax.h"

namespace remora::fabric::interop {
namespace {

// An emulated machine on a busy one takes its time.
constexpr std::uint64_t patience_ns = 100'000'000'000;
constexpr std::uint64_t turn_ns = 100'000;
constexpr std::uint32_t completions = 512;

}  // namespace

Result<std::unique_ptr<Station>> Station::open(const StationOptions& options,
                                               std::uint32_t loss_ppm, std::uint64_t loss_seed) {
  std::unique_ptr<Station> station(new Station(options));
  REMORA_TRY(station->make_device(loss_ppm, loss_seed));
  station->domain_ = station->device_->create_domain();
  REMORA_TRY(station->make_memory());
  REMORA_TRY_RESULT(queue, station->device_->create_completion_queue(completions));
  station->queue_ = std::move(queue).value();
  REMORA_TRY_RESULT(
      qp, station->domain_->create_queue_pair(
              {.send_queue = station->queue_.get(), .receive_queue = station->queue_.get()}));
  station->qp_ = std::move(qp).value();
  REMORA_TRY(station->qp_->initialise());
  return station;
}

Station::~Station() = default;

Status Station::make_device(std::uint32_t loss_ppm, std::uint64_t loss_seed) {
  if (options_.wire != "roce") {
    std::optional<verbs::VerbsOptions> parsed = verbs::parse_wire(options_.wire);
    if (!parsed) {
      return Status(Code::invalid_argument, "a wire is roce, verbs or verbs:DEVICE");
    }
    parsed->mtu_bytes = options_.mtu_bytes;
    parsed->flush = verbs::FlushMethod::native;
    auto device = verbs::VerbsDevice::open(*parsed);
    if (device.code() == Code::unsupported) {
      parsed->flush = std::nullopt;  // the description tells
      device = verbs::VerbsDevice::open(*parsed);
    }
    REMORA_TRY(device.status());
    device_ = std::move(device).value();
    return Status();
  }
  REMORA_TRY_RESULT(own, nic::roce::parse_address(options_.address));
  REMORA_TRY_RESULT(wire, nic::roce::RoceWire::create({.local = {*own, nic::roce::limits::udp_port},
                                                       .mtu_bytes = options_.mtu_bytes,
                                                       .loss_ppm = loss_ppm,
                                                       .loss_seed = loss_seed}));
  wire_ = std::move(wire).value();
  device_ = std::make_unique<nic::Nic>(loop_, *wire_, dma_);
  return Status();
}

Status Station::make_memory() {
  AccessFlags access = every_access;
  if (options_.dax.empty()) {
    REMORA_TRY_RESULT(memory, make_dram(station_bytes));
    memory_ = std::move(memory).value();
    if (wire_ == nullptr) {
      access &= ~flush_persistence;  // a device flushes to persistence where there is some
    }
  } else {
    memory_ = std::make_unique<contract::DeviceDax>(options_.dax, station_bytes);
  }
  REMORA_TRY_RESULT(region, domain_->register_memory(memory_->bytes(), access, memory_.get()));
  region_ = std::move(region).value();
  return Status();
}

Status Station::connect(const QueuePairAddress& peer, const ConnectOptions& options) {
  if (wire_ != nullptr) {
    REMORA_TRY_RESULT(link, wire_->add_link({.endpoint = {peer.gid, nic::roce::limits::udp_port},
                                             .gid = peer.gid,
                                             .rxe_flush_icrc = options_.peer_is_rxe}));
  }
  return qp_->connect(peer, options);
}

bool Station::run_until(const std::function<bool()>& holds) {
  const std::uint64_t end_ns = loop_.after(patience_ns);
  while (!holds()) {
    if (loop_.now_ns() > end_ns) {
      return false;
    }
    if (wire_ == nullptr) {
      sched_yield();  // the device works by itself
    } else {
      (void)loop_.run_for(turn_ns);  // not turn(), which sleeps until a packet comes
    }
  }
  return true;
}

std::string Station::description() const {
  const DeviceAttributes& attributes = device_->attributes();
  std::string text = fmt::format("{} (path MTU {})", attributes.wire, attributes.path_mtu_bytes);
  for (const Capability& capability : attributes.capabilities) {
    text += fmt::format("; {}: {}", capability.name,
                        capability.support == Support::native     ? "native"
                        : capability.support == Support::emulated ? "emulated"
                                                                  : "none");
  }
  return text;
}

}  // namespace remora::fabric::interop
