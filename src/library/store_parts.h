// What a Store is made of, for the library, and for those parts of the product that need more of a
// connected store than the public API offers (a backup).
#pragma once

#include <remora/store.h>

#include <memory>
#include <string>

#include "base/result.h"
#include "library/embedded_store.h"
#include "link/store_link.h"
#include "runtime/poll_loop.h"

namespace remora {

Error error_of(const Status& status);
Expected<void> expected_of(const Status& status);

struct StoreParts {
  PollLoop loop;
  std::string path;                     // of the socket
  std::string server;                   // HOST:PORT in its place
  link::StoreLinkOptions link_options;  // to connect again
  std::uint64_t last_ns = 0;            // when an operation was last begun
  std::size_t largest_value_bytes = 0;
  std::size_t under_way = 0;
  std::unique_ptr<EmbeddedStore> embedded;  // outlives the link to it
  std::unique_ptr<link::StoreLink> link;

  ~StoreParts();

  // Of a store that is there.
  static StoreParts& of(Store& store);

  // The embedded store; in memory where the path is empty.
  Status embed(const std::string& pool_path, const OpenOptions& options);
  // The store at a socket, or at HOST:PORT.
  Status connect(const std::string& where, const ConnectOptions& options);
  // Connects, or connects again, with room for values of that size.
  Status connect_for(std::size_t largest_value);

  // What came while nobody ran the loop is heard first: a connection that has ended is made again,
  // unless something is under way on it. Whether one was made. The outcome stands in `link`, which
  // may be null.
  Result<bool> ready();
  void wait_all();
  // Most values are small: a get begins with little, and comes again when that was not enough.
  Task<Status> read(std::string_view key, std::string& value);
  // The same, with the version that conditions name.
  Task<Status> read_version(std::string_view key, Versioned& value);

 private:
  Status connect_now();
};

}  // namespace remora
