#include "tests/fabric/device_dax.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "base/check.h"
#include "pmem/open_region.h"

namespace remora::fabric::contract {
namespace {

constexpr std::size_t dax_alignment = 2 << 20;  // it maps whole huge pages

}  // namespace

DeviceDax::DeviceDax(const std::string& path, std::size_t size_bytes) {
  const std::size_t mapped_bytes = round_up(size_bytes, dax_alignment);
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  REMORA_CHECK(descriptor >= 0, "cannot open the device DAX");
  void* mapped = mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  REMORA_CHECK(mapped != MAP_FAILED, "cannot map the device DAX");
  mapped_ = Bytes(static_cast<std::byte*>(mapped), mapped_bytes);
  std::ranges::fill(mapped_.first(size_bytes), std::byte{0});
  lines_ = std::move(adopt_mapping(mapped_.first(size_bytes))).value();
  strategy_ = lines_->strategy();
  strategy_.survives_power_cut = true;
}

DeviceDax::~DeviceDax() {
  std::ranges::fill(bytes(), std::byte{0});
  lines_.reset();
  munmap(mapped_.data(), mapped_.size());
}

}  // namespace remora::fabric::contract
