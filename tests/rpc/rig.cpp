#include "tests/rpc/rig.h"

#include <algorithm>

#include "runtime/virtual_loop.h"

namespace remora::rpc::contract {

Rig::Rig(const Design& design, fabric::contract::World& world, DesignOptions options)
    : design_(design), world_(world), options_(options) {
  if (auto* virtual_loop = dynamic_cast<VirtualLoop*>(&world.runtime())) {
    virtual_loop->add_cores(1);  // the one that hosts charge
  }
  options_.connect = world.connect_options();
  options_.body_bytes = std::min(options_.body_bytes, design.most_body_bytes(world.far()));
  start_server();
}

void Rig::start_server() {
  Result<std::unique_ptr<Server>> server =
      serve(design_, Host(world_.runtime(), world_.far()), service_, options_);
  ASSERT_TRUE(server.ok()) << server.status().message();
  server_ = std::move(server).value();
}

Result<std::unique_ptr<DesignClient>> Rig::try_connect() {
  REMORA_TRY_RESULT(client, design_.start_client(Host(world_.runtime(), world_.near()), options_));
  REMORA_TRY_RESULT(answer, server_->accept((*client)->introduction()));
  REMORA_TRY((*client)->connect(*answer));
  return std::move(client).value();
}

std::unique_ptr<DesignClient> Rig::connect() {
  Result<std::unique_ptr<DesignClient>> client = try_connect();
  EXPECT_TRUE(client.ok()) << client.status().message();
  return client.ok() ? std::move(client).value() : nullptr;
}

Task<std::string> Rig::say(DesignClient& client, std::uint32_t slot, Kind kind, std::string text) {
  std::memcpy(client.request(slot).data(), text.data(),
              std::min(text.size(), client.request(slot).size()));
  const Result<ConstBytes> result = co_await client.call(slot, kind, text.size());
  if (!result.ok()) {
    co_return std::string(to_string(result.status().code())) + ": " +
        std::string(result.status().message());
  }
  co_return std::string(reinterpret_cast<const char*>(result->data()), result->size());
}

std::string Rig::ask(DesignClient& client, Kind kind, const std::string& text) {
  Task<std::string> task = say(client, 0, kind, text);
  if (!ends(task)) {
    ADD_FAILURE() << "the call never ends";
    std::abort();  // a flow may not be destroyed
  }
  return task.take();
}

std::string text_of(std::size_t size, std::uint64_t number) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) {
    text[i] = static_cast<char>('a' + (i * 7 + number * 13 + i / 251) % 26);
  }
  return text;
}

}  // namespace remora::rpc::contract
