#include "library/embedded_store.h"

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <utility>

namespace remora {
namespace {

constexpr std::uint64_t longest_settling_ns = 10'000'000'000;
constexpr std::uint64_t settling_look_ns = 100'000;

}  // namespace

Result<std::unique_ptr<EmbeddedStore>> EmbeddedStore::open(Runtime& runtime,
                                                           server::StoreHostOptions options) {
  std::unique_ptr<EmbeddedStore> store(new EmbeddedStore(runtime));
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  std::string folder = (error ? "/tmp" : parent.string()) + "/remora-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) {
    return os_failure("cannot make a folder in " + parent.string(), errno);
  }
  store->folder_ = folder;
  store->socket_path_ = folder + "/socket";
  options.socket_path = store->socket_path_;
  REMORA_TRY_RESULT(host, server::StoreHost::open(runtime, options));
  store->host_ = std::move(host).value();
  return store;
}

EmbeddedStore::~EmbeddedStore() {
  if (host_) {
    host_->close_doors();
    const std::uint64_t give_up_ns = runtime_.after(longest_settling_ns);
    while ((host_->store().busy() || host_->links() != 0) && runtime_.now_ns() < give_up_ns) {
      (void)runtime_.run_for(settling_look_ns);
    }
    (void)host_->finish();  // without its marks it is as after a kill
    host_.reset();
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace remora
