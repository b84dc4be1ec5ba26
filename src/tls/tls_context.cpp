#include "tls/tls_context.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

namespace remora {
namespace {

// What OpenSSL says of its last failure, and of no earlier one.
std::string last_failure() {
  const unsigned long error = ERR_peek_last_error();
  const char* const reason = error == 0 ? nullptr : ERR_reason_error_string(error);
  ERR_clear_error();
  return reason == nullptr ? "unknown" : reason;
}

Status check_file(const std::string& path, const char* what) {
  struct stat facts = {};
  if (::stat(path.c_str(), &facts) != 0) {
    return os_failure(fmt::format("cannot read the {} {}", what, path), errno);
  }
  return {};
}

Status check_secret(const std::string& path) {
  struct stat facts = {};
  if (::stat(path.c_str(), &facts) == 0 && (facts.st_mode & (S_IROTH | S_IWOTH)) != 0) {
    return Status(Code::permission_denied,
                  fmt::format("{}: others can read this key; chmod o= {}", path, path));
  }
  return {};
}

Status load_identity(SSL_CTX* context, const std::string& certificate, const std::string& key) {
  REMORA_TRY(check_file(certificate, "certificate"));
  REMORA_TRY(check_file(key, "key"));
  REMORA_TRY(check_secret(key));
  if (SSL_CTX_use_certificate_chain_file(context, certificate.c_str()) != 1) {
    return Status(Code::invalid_argument,
                  fmt::format("{}: no certificate in PEM ({})", certificate, last_failure()));
  }
  if (SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return Status(Code::invalid_argument,
                  fmt::format("{}: no key in PEM that belongs to the certificate in {}, and has no "
                              "passphrase ({})",
                              key, certificate, last_failure()));
  }
  if (SSL_CTX_check_private_key(context) != 1) {
    return Status(Code::invalid_argument,
                  fmt::format("{}: the key does not belong to the certificate in {} ({})", key,
                              certificate, last_failure()));
  }
  return {};
}

Status load_trust(SSL_CTX* context, const std::string& authorities) {
  REMORA_TRY(check_file(authorities, "certificates"));
  if (SSL_CTX_load_verify_file(context, authorities.c_str()) != 1) {
    return Status(Code::invalid_argument,
                  fmt::format("{}: no certificate in PEM ({})", authorities, last_failure()));
  }
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  return {};
}

// A key with a passphrase is refused, and nobody is asked at a terminal.
int no_passphrase(char*, int, int, void*) {
  return 0;
}

}  // namespace

Result<std::shared_ptr<ssl_ctx_st>> TlsContext::load() const {
  ERR_clear_error();
  std::shared_ptr<SSL_CTX> context(
      SSL_CTX_new(is_server_ ? TLS_server_method() : TLS_client_method()), SSL_CTX_free);
  if (!context) {
    return Status(Code::unsupported, "TLS cannot be had here: " + last_failure());
  }
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(),
                      SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context.get(), 0);
  // What could not be sent is sent later from another place; buffers go while nothing is under way.
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                      SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_default_passwd_cb(context.get(), no_passphrase);
  REMORA_TRY(is_server_ ? load_identity(context.get(), certificates_, key_)
                        : load_trust(context.get(), certificates_));
  return context;
}

Status TlsContext::reload() {
  REMORA_TRY_RESULT(context, load());
  context_ = std::move(context).value();
  return {};
}

Result<std::shared_ptr<TlsContext>> TlsContext::server(const std::string& certificate_path,
                                                       const std::string& key_path) {
  std::shared_ptr<TlsContext> context(new TlsContext);
  context->is_server_ = true;
  context->certificates_ = certificate_path;
  context->key_ = key_path;
  REMORA_TRY(context->reload());
  return context;
}

Result<std::shared_ptr<TlsContext>> TlsContext::client(const std::string& authorities_path) {
  std::shared_ptr<TlsContext> context(new TlsContext);
  context->certificates_ = authorities_path;
  REMORA_TRY(context->reload());
  return context;
}

}  // namespace remora
