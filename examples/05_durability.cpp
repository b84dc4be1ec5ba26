// What an acknowledged put means, and how to ask for more of one that matters.
//
//   example_05_durability FOLDER
#include <remora/store.h>

#include <iostream>

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  remora::Store store = remora::Store::open(folder + "/durability.pool").value();

  const remora::Medium medium = store.medium();
  std::cout << "made persistent by " << medium.method << "; "
            << (medium.survives_power_cut ? "survives a power cut\n" : "lost in a power cut\n");

  // Visible to every get at once; persistent a moment later, by itself.
  store.put("temperature", "21.5").value();
  // Acknowledged when it is persistent: worth waiting for.
  store.put("order/1", "two anchors", remora::Durability::persistent).value();

  // Failures are typed: a program acts on the code, a person reads the message.
  const remora::Expected<std::string> missing = store.get("order/2");
  if (missing.is(remora::ErrorCode::not_found)) {
    std::cout << "order/2: " << to_string(missing.error().code) << "\n";
  }
  const remora::Expected<void> refused = store.put("", "a key has at least one byte");
  std::cout << "an empty key: " << refused.error().message << "\n";
}
