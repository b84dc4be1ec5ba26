// A store inside this program: no server, one file.
//
//   example_01_embedded FOLDER
#include <remora/store.h>

#include <iostream>

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  remora::Expected<remora::Store> opened = remora::Store::open(folder + "/embedded.pool");
  if (!opened) {
    std::cerr << opened.error().message << "\n";
    return 1;
  }
  remora::Store& store = *opened;
  // Value or exception: `value()` throws remora::Failure when there is no value.
  const remora::Expected<std::string> before = store.get("runs");
  const int runs = before ? std::stoi(*before) + 1 : 1;
  store.put("runs", std::to_string(runs)).value();
  std::cout << "this program has run " << store.get("runs").value() << " times\n";
}
