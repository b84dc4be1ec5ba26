// The same on a store that `remora serve` serves, shared with other processes.
//
//   example_02_connect SOCKET
#include <remora/store.h>

#include <iostream>

int main(int argc, char** argv) {
  const std::string socket = argc > 1 ? argv[1] : "data/remora.sock";
  remora::Expected<remora::Store> connected = remora::Store::connect(socket);
  if (!connected) {
    std::cerr << connected.error().message << "\n";
    return 1;
  }
  remora::Store& store = *connected;
  store.put("example", "from another process").value();
  std::cout << store.get("example").value() << "\n";
  int keys = 0;
  store.scan([&](std::string_view) { return ++keys, true; }).value();
  std::cout << keys << " keys, by the wire " << store.wire() << ", with the role " << store.role()
            << "\n";
}
