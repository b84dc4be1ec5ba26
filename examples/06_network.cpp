// A store on another machine: `remora serve --listen` there, with a token in its settings.
//
//   example_06_network HOST:PORT TOKEN_FILE [TLS_CA]
#include <remora/store.h>

#include <fstream>
#include <iostream>

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: example_06_network HOST:PORT TOKEN_FILE [TLS_CA]\n";
    return 2;
  }
  remora::ConnectOptions options;
  // From a file: a token on the command line is seen by every user of this machine.
  std::ifstream file(argv[2]);
  std::getline(file, options.token);
  // What vouches for the server's certificate; without it the session is in clear.
  options.tls_ca = argc > 3 ? argv[3] : "";
  remora::Expected<remora::Store> connected = remora::Store::connect(argv[1], options);
  if (!connected) {
    std::cerr << connected.error().message << "\n";
    return 1;
  }
  remora::Store& store = *connected;
  store.put("example", "from another machine", remora::Durability::persistent).value();
  std::cout << store.get("example").value() << ": "
            << store.acknowledged(remora::Durability::persistent) << "\n";
  const remora::Facts facts = store.facts().value();
  std::cout << "by the wire " << store.wire() << ", with the role " << store.role() << ", engine "
            << remora::find_fact(facts, "engine").value_or("unknown") << "\n";
}
