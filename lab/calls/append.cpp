#include "lab/calls/append.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace remora::lab {

namespace {

struct ArgumentHead {
  CallId id;
  std::uint32_t key;
  std::uint32_t size_bytes;  // of all arguments
};
static_assert(std::has_unique_object_representations_v<ArgumentHead>);

std::string list_key(std::uint32_t key) {
  return "list-" + std::to_string(key);
}
std::string count_key(std::uint32_t key) {
  return "count-" + std::to_string(key);
}

ArgumentHead head_of(ConstBytes arguments) {
  ArgumentHead head{};
  if (arguments.size() >= sizeof head) {
    std::memcpy(&head, arguments.data(), sizeof head);
  }
  return head;
}

}  // namespace

std::vector<std::byte> append_arguments(CallId id, std::uint32_t key, std::size_t size_bytes) {
  std::vector<std::byte> bytes(std::max(size_bytes, sizeof(ArgumentHead)));
  const ArgumentHead head{id, key, static_cast<std::uint32_t>(bytes.size())};
  std::memcpy(bytes.data(), &head, sizeof head);
  Random random(id);
  std::generate(bytes.begin() + sizeof head, bytes.end(),
                [&] { return static_cast<std::byte>(random.next()); });
  return bytes;
}

rpc::calls::Method append_method(Runtime& runtime, std::uint64_t longest_work_ns) {
  const auto run = [&runtime, longest_work_ns](rpc::calls::CallWork& work) -> Task<Status> {
    const ArgumentHead head = head_of(work.arguments());
    const bool is_whole = std::ranges::equal(
        work.arguments(), append_arguments(head.id, head.key, work.arguments().size()));
    const CallId id = is_whole ? head.id : torn_call;
    const std::string key = list_key(head.key);
    Random random(mix(head.id));
    if (longest_work_ns != 0) {
      co_await runtime.sleep_for(random.below(longest_work_ns));
    }
    std::vector<std::byte> list;
    if (const std::optional<ConstBytes> found = work.get(as_bytes(key))) {
      list.assign(found->begin(), found->end());
    }
    if (longest_work_ns != 0) {
      co_await runtime.sleep_for(random.below(longest_work_ns));
    }
    const std::uint64_t place = list.size() / sizeof id;
    const ConstBytes id_bytes = object_bytes(id);
    list.insert(list.end(), id_bytes.begin(), id_bytes.end());
    const std::uint64_t count = place + 1;
    work.put(as_bytes(key), list);
    work.put(as_bytes(count_key(head.key)), object_bytes(count));
    work.set_result(object_bytes(place));
    co_return Status();
  };
  return {.name = "append", .run = run, .key = [](ConstBytes arguments) {
            return std::uint64_t{head_of(arguments).key};
          }};
}

std::uint64_t place_of(ConstBytes result) {
  return result.size() == sizeof(std::uint64_t) ? load<std::uint64_t>(result.data()) : UINT64_MAX;
}

CallLists read_lists(rpc::calls::Effects& store, std::uint32_t keys, std::uint64_t at_ns) {
  CallLists lists{.at_ns = at_ns, .of_key = std::vector<std::vector<CallId>>(keys)};
  for (std::uint32_t key = 0; key < keys; ++key) {
    std::vector<CallId>& list = lists.of_key[key];
    if (const std::optional<ConstBytes> found = store.get(as_bytes(list_key(key)))) {
      list.resize(found->size() / sizeof(CallId));
      std::memcpy(list.data(), found->data(), list.size() * sizeof(CallId));
    }
    const std::optional<ConstBytes> count = store.get(as_bytes(count_key(key)));
    if ((count ? place_of(*count) : 0) != list.size()) {
      list.push_back(torn_call);
    }
  }
  return lists;
}

}  // namespace remora::lab
