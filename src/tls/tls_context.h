// TlsContext: what one side of TLS knows before anybody comes: a server's certificate and key, or
// the authorities that a client believes. TLS 1.2 and 1.3; no session is resumed, and nothing is
// renegotiated, so that what a connection has agreed on at its beginning holds to its end.
//
// One thread at a time. Streams keep what they need of it, and may outlive it.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

struct ssl_ctx_st;

namespace remora {

class TlsContext {
 public:
  // A server's: both files are PEM, the certificate first in its file and those that vouch for it
  // behind. Fails with what is wrong: the file, that others can read the key, that the two do not
  // belong together.
  static Result<std::shared_ptr<TlsContext>> server(const std::string& certificate_path,
                                                    const std::string& key_path);
  // A client's: PEM, one certificate or more, of authorities or of the server itself.
  static Result<std::shared_ptr<TlsContext>> client(const std::string& authorities_path);

  // Reads the files again, for streams that begin from now on. When that fails, all stays as it is.
  Status reload();

  ssl_ctx_st* get() const { return context_.get(); }

 private:
  TlsContext() = default;
  Result<std::shared_ptr<ssl_ctx_st>> load() const;

  bool is_server_ = false;
  std::string certificates_;
  std::string key_;
  std::shared_ptr<ssl_ctx_st> context_;
};

}  // namespace remora
