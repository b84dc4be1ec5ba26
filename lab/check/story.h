// For tests: tells a History in short sentences. Each verb takes one nanosecond; the key is "k"
// unless said otherwise; values have 64 bytes.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/check/history.h"

namespace remora {

class Story {
 public:
  static constexpr std::size_t size_bytes = 64;

  OperationIndex start_put(ClientId client, std::uint64_t id, std::string_view key = "k") {
    return history_.invoke_put(client, key, describe_value(key, id, size_bytes), now_ns_++);
  }
  OperationIndex start_del(ClientId client, std::string_view key = "k") {
    return history_.invoke_del(client, key, now_ns_++);
  }
  OperationIndex start_get(ClientId client, std::string_view key = "k") {
    return history_.invoke_get(client, key, now_ns_++);
  }

  void persistent(OperationIndex write) {
    history_.respond_write(write, Outcome::persistent, now_ns_++);
  }
  void visible(OperationIndex write) { history_.respond_write(write, Outcome::visible, now_ns_++); }
  void flushed(OperationIndex write) { history_.persisted(write, now_ns_++); }
  void give_up(OperationIndex operation) {
    history_.respond_failed(operation, Outcome::unknown, now_ns_++);
  }
  void refuse(OperationIndex operation) {
    history_.respond_failed(operation, Outcome::refused, now_ns_++);
  }
  void returns(OperationIndex get, std::uint64_t id, std::string_view key = "k") {
    returns_bytes(get, value_for(key, id, size_bytes));
  }
  void returns_bytes(OperationIndex get, ConstBytes bytes) {
    history_.respond_value(get, identify(bytes), now_ns_++);
  }
  void returns_nothing(OperationIndex get) { history_.respond_not_found(get, now_ns_++); }

  // Whole operations, with nothing between invocation and response.
  OperationIndex put(ClientId client, std::uint64_t id, std::string_view key = "k") {
    const OperationIndex operation = start_put(client, id, key);
    persistent(operation);
    return operation;
  }
  OperationIndex put_visible(ClientId client, std::uint64_t id) {
    const OperationIndex operation = start_put(client, id);
    visible(operation);
    return operation;
  }
  OperationIndex del(ClientId client) {
    const OperationIndex operation = start_del(client);
    persistent(operation);
    return operation;
  }
  OperationIndex del_visible(ClientId client) {
    const OperationIndex operation = start_del(client);
    visible(operation);
    return operation;
  }
  OperationIndex get(ClientId client, std::uint64_t id) {
    const OperationIndex operation = start_get(client);
    returns(operation, id);
    return operation;
  }
  OperationIndex get_nothing(ClientId client) {
    const OperationIndex operation = start_get(client);
    returns_nothing(operation);
    return operation;
  }

  std::size_t start_scan(ClientId client) { return history_.invoke_scan(client, now_ns_++); }
  void lists(std::size_t scan, std::vector<std::string> keys) {
    history_.respond_scan(scan, std::move(keys), now_ns_++);
  }
  void scan(ClientId client, std::vector<std::string> keys) {
    lists(start_scan(client), std::move(keys));
  }

  void cut() { history_.cut(CutScope::whole_world, now_ns_++); }
  void cut_server() { history_.cut(CutScope::server_only, now_ns_++); }

  const History& history() const { return history_; }

 private:
  History history_;
  std::uint64_t now_ns_ = 0;
};

}  // namespace remora
