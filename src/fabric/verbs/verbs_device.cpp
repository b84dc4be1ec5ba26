#include "fabric/verbs/verbs_device.h"

#include <charconv>
#include <utility>

#include "fabric/verbs/completion_queue.h"
#include "fabric/verbs/context.h"
#include "fabric/verbs/domain.h"
#include "fabric/verbs/event_channel.h"
#include "fabric/verbs/queue_pair.h"

namespace remora::fabric::verbs {

std::optional<VerbsOptions> parse_wire(const std::string& text) {
  constexpr std::string_view name = "verbs";
  if (!text.starts_with(name)) {
    return std::nullopt;
  }
  VerbsOptions options;
  if (text.size() > name.size()) {
    if (text[name.size()] != ':' || text.size() == name.size() + 1) {
      return std::nullopt;
    }
    options.device = text.substr(name.size() + 1);
    if (const std::size_t slash = options.device.find('/'); slash != std::string::npos) {
      const char* const end = options.device.data() + options.device.size();
      const auto [rest, error] =
          std::from_chars(options.device.data() + slash + 1, end, options.port);
      if (slash == 0 || error != std::errc() || rest != end || options.port == 0) {
        return std::nullopt;
      }
      options.device.resize(slash);
    }
  }
  return options;
}

VerbsDevice::VerbsDevice(std::unique_ptr<Context> context) : context_(std::move(context)) {}

VerbsDevice::~VerbsDevice() = default;

Result<std::unique_ptr<VerbsDevice>> VerbsDevice::open(const VerbsOptions& options) {
  REMORA_TRY_RESULT(context, Context::open(options));
  return std::unique_ptr<VerbsDevice>(new VerbsDevice(std::move(context).value()));
}

const DeviceAttributes& VerbsDevice::attributes() const {
  return context_->attributes();
}

const Methods& VerbsDevice::methods() const {
  return context_->methods();
}

DeviceCounters VerbsDevice::counters() const {
  return context_->counters();
}

std::unique_ptr<ProtectionDomain> VerbsDevice::create_domain() {
  return std::make_unique<Domain>(*context_);
}

Result<std::unique_ptr<CompletionQueue>> VerbsDevice::create_completion_queue(
    std::uint32_t capacity) {
  return Completions::create(*context_, capacity);
}

void VerbsDevice::wake(Runtime& loop) {
  loop.add_poller(context_->events());
}

void VerbsDevice::fall_silent() {
  context_->for_each([](Qp& qp) { qp.reset(); });
}

}  // namespace remora::fabric::verbs
