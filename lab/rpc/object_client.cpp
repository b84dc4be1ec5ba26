#include "lab/rpc/object_client.h"

#include <cstring>
#include <functional>
#include <utility>

namespace remora::lab {

namespace {

std::string_view key_text(ConstBytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

ObjectIndex::ObjectIndex(const workload::Plan& plan)
    : keys_(plan.keys),
      objects_(plan.records + (plan.workload.weight(workload::Kind::insert) > 0
                                   ? plan.operations + plan.warm_up
                                   : 0)) {
  numbers_.reserve(objects_);
  for (std::uint64_t number = 0; number < objects_; ++number) {
    numbers_.emplace(key_of(number), number);
  }
}

std::uint64_t ObjectIndex::number_of(ConstBytes key) const {
  const auto found = numbers_.find(std::string(key_text(key)));
  return found != numbers_.end() ? found->second
                                 : std::hash<std::string_view>()(key_text(key)) % objects_;
}

std::string ObjectIndex::key_of(std::uint64_t number) const {
  workload::KeyBuffer buffer;
  return std::string(keys_.text_of(number, buffer));
}

ObjectClient::ObjectClient(const Host& host, std::unique_ptr<rpc::DesignClient> client,
                           std::shared_ptr<const ObjectIndex> index)
    : host_(host),
      client_(std::move(client)),
      index_(std::move(index)),
      free_(host.runtime(), client_->window()),
      owes_(client_->window()) {
  for (std::uint32_t slot = 0; slot < client_->window(); ++slot) {
    unused_.push_back(slot);
  }
}

Task<Result<std::uint32_t>> ObjectClient::take() {
  co_await free_.acquire();
  const std::uint32_t slot = unused_.front();
  unused_.erase(unused_.begin());
  if (owes_[slot]) {
    owes_[slot] = false;
    const Result<ConstBytes> result = co_await client_->result(slot);
    if (!result.ok()) {
      give_back(slot);
      co_return ended(result.status());
    }
  }
  co_return slot;
}

void ObjectClient::give_back(std::uint32_t slot) {
  unused_.push_back(slot);
  free_.release();
}

Bytes ObjectClient::request(std::uint32_t slot, ConstBytes key, std::size_t more_bytes) {
  const Bytes request = client_->request(slot).first(object_request_bytes + more_bytes);
  const std::uint64_t number = index_->number_of(key);
  std::memcpy(request.data(), &number, sizeof number);
  return request;
}

Status ObjectClient::ended(Status status) {
  if (status.code() == Code::closed || status.code() == Code::timed_out) {
    failure_ = status;
  }
  return status;
}

Task<Status> ObjectClient::put(ConstBytes key, ConstBytes value, kv::PutOptions) {
  const Result<std::uint32_t> slot = co_await take();
  if (!slot.ok()) {
    co_return slot.status();
  }
  const Bytes call = request(*slot, key, value.size());
  host_.charge_copy(value.size());
  copy_bytes(call.data() + object_request_bytes, value);
  Status status = co_await client_->persistent(*slot, write_object, call.size());
  owes_[*slot] = status.ok();
  give_back(*slot);
  co_return ended(std::move(status));
}

Task<Result<std::size_t>> ObjectClient::get(ConstBytes key, Bytes value) {
  const Result<std::uint32_t> slot = co_await take();
  if (!slot.ok()) {
    co_return slot.status();
  }
  const Bytes call = request(*slot, key, 0);
  Result<ConstBytes> result = co_await client_->call(*slot, read_object, call.size());
  if (result.ok() && result->size() <= value.size()) {
    host_.charge_copy(result->size());
    copy_bytes(value.data(), *result);
  }
  give_back(*slot);
  if (!result.ok()) {
    co_return ended(result.status());
  }
  co_return result->size();
}

Task<Status> ObjectClient::del(ConstBytes) {
  co_return Status(Code::unsupported, "objects of a benchmark are not deleted");
}

Task<Result<kv::ScanCursor>> ObjectClient::scan(kv::ScanCursor from, std::size_t most_keys,
                                                kv::ScanSink& sink) {
  std::uint64_t number = from;
  for (std::size_t i = 0; i < most_keys && number < index_->objects(); ++i, ++number) {
    const std::string key = index_->key_of(number);
    sink.key(std::as_bytes(std::span(key)));
  }
  co_return number < index_->objects() ? number : 0;
}

}  // namespace remora::lab
