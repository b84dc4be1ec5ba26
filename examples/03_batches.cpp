// Many operations at once: a batch, and operations that are started before others have ended.
//
//   example_03_batches FOLDER
#include <remora/store.h>

#include <iostream>

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  remora::Store store = remora::Store::open(folder + "/batches.pool").value();

  remora::Batch squares;
  for (int i = 0; i < 1000; ++i) {
    squares.put("square/" + std::to_string(i), std::to_string(i * i));
  }
  for (const remora::Expected<std::string>& outcome : store.run(squares)) {
    if (!outcome) {
      std::cerr << outcome.error().message << "\n";
      return 1;
    }
  }

  // Both are on their way; keys stay until they have ended.
  const std::string one = "square/12";
  const std::string other = "square/30";
  remora::Pending<std::string> first = store.get_async(one);
  remora::Pending<std::string> second = store.get_async(other);
  const std::string right = store.wait(std::move(second)).value();
  const std::string left = store.wait(std::move(first)).value();
  std::cout << left << " + " << right << " = " << std::stoi(left) + std::stoi(right) << "\n";
}
