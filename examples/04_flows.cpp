// Coroutines: many flows at a time in one thread, each written from top to bottom.
//
//   example_04_flows FOLDER
#include <remora/store.h>

#include <iostream>
#include <list>

namespace {

// Moves an amount from one account to another, if there is enough.
remora::Flow<bool> transfer(remora::Store& store, std::string from, std::string to, int amount) {
  const int has = std::stoi((co_await store.get_async(from)).value());
  if (has < amount) {
    co_return false;
  }
  const int other = std::stoi((co_await store.get_async(to)).value());
  const std::string less = std::to_string(has - amount);
  const std::string more = std::to_string(other + amount);
  // Both puts are under way before either is awaited.
  remora::Pending<void> taken = store.put_async(from, less);
  remora::Pending<void> given = store.put_async(to, more);
  (co_await taken).value();
  (co_await given).value();
  co_return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  remora::Store store = remora::Store::open(folder + "/flows.pool").value();
  for (int i = 0; i < 8; ++i) {
    store.put("account/" + std::to_string(i), "100").value();
  }
  // Four transfers between accounts that have nothing to do with each other, at the same time.
  std::list<remora::Flow<bool>> flows;
  for (int i = 0; i < 8; i += 2) {
    flows.push_back(transfer(store, "account/" + std::to_string(i),
                             "account/" + std::to_string(i + 1), 10 * i));
  }
  int done = 0;
  for (remora::Flow<bool>& flow : flows) {
    done += store.run(std::move(flow)) ? 1 : 0;
  }
  std::cout << done << " transfers; account 7 has " << store.get("account/7").value() << "\n";
}
