#include "tls/tls_stream.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "base/check.h"

namespace remora {
namespace {

// --- The socket, as OpenSSL sees it. Its own kind of that would end the process by SIGPIPE.

int socket_of(BIO* bio) {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
}

int retried(BIO* bio, ssize_t count, int retry) {
  BIO_clear_retry_flags(bio);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
    BIO_set_flags(bio, retry | BIO_FLAGS_SHOULD_RETRY);
  }
  return static_cast<int>(count);
}

int write_socket(BIO* bio, const char* bytes, int count) {
  return retried(bio, ::send(socket_of(bio), bytes, static_cast<std::size_t>(count), MSG_NOSIGNAL),
                 BIO_FLAGS_WRITE);
}

int read_socket(BIO* bio, char* bytes, int count) {
  return retried(bio, ::recv(socket_of(bio), bytes, static_cast<std::size_t>(count), MSG_DONTWAIT),
                 BIO_FLAGS_READ);
}

long control_socket(BIO*, int command, long, void*) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO_METHOD* socket_method() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "remora socket");
    BIO_meth_set_write(made, write_socket);
    BIO_meth_set_read(made, read_socket);
    BIO_meth_set_ctrl(made, control_socket);
    return made;
  }();
  return method;
}

bool is_address(const std::string& host) {
  in6_addr ignored;
  return ::inet_pton(AF_INET, host.c_str(), &ignored) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &ignored) == 1;
}

Status expect_host(SSL* stream, const std::string& host) {
  X509_VERIFY_PARAM* const expected = SSL_get0_param(stream);
  const bool is_set = is_address(host)
                          ? X509_VERIFY_PARAM_set1_ip_asc(expected, host.c_str()) == 1
                          : X509_VERIFY_PARAM_set1_host(expected, host.c_str(), host.size()) == 1 &&
                                SSL_set_tlsext_host_name(stream, host.c_str()) == 1;
  return is_set ? Status() : Status(Code::invalid_argument, host + " is not the name of a host");
}

}  // namespace

void TlsStream::Free::operator()(ssl_st* stream) const {
  SSL_free(stream);
}

TlsStream::TlsStream(ssl_st* stream) : stream_(stream) {}

TlsStream::~TlsStream() = default;

Result<std::unique_ptr<TlsStream>> TlsStream::make(const TlsContext& context, int socket) {
  std::unique_ptr<TlsStream> stream(new TlsStream(SSL_new(context.get())));
  BIO* const bio = BIO_new(socket_method());
  if (stream->stream_ == nullptr || bio == nullptr) {
    BIO_free(bio);
    return Status(Code::no_space, "not enough memory for another TLS connection");
  }
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(socket)));
  BIO_set_init(bio, 1);
  SSL_set_bio(stream->stream_.get(), bio, bio);
  return stream;
}

Result<std::unique_ptr<TlsStream>> TlsStream::accept(const TlsContext& context, int socket) {
  Result<std::unique_ptr<TlsStream>> stream = make(context, socket);
  if (stream.ok()) {
    SSL_set_accept_state((*stream)->stream_.get());
  }
  return stream;
}

Result<std::unique_ptr<TlsStream>> TlsStream::connect(const TlsContext& context, int socket,
                                                      const std::string& host) {
  Result<std::unique_ptr<TlsStream>> stream = make(context, socket);
  if (stream.ok()) {
    REMORA_TRY(expect_host((*stream)->stream_.get(), host));
    SSL_set_connect_state((*stream)->stream_.get());
  }
  return stream;
}

// What a call of OpenSSL that did nothing is waiting for.
TlsStream::Step TlsStream::judge(int returned) {
  switch (SSL_get_error(stream_.get(), returned)) {
    case SSL_ERROR_WANT_READ:
      return Step::wants_input;
    case SSL_ERROR_WANT_WRITE:
      return Step::wants_room;
    case SSL_ERROR_ZERO_RETURN:
      ended_ = true;
      return Step::failed;
    default:
      break;
  }
  ended_ = failed_ = true;
  const long verdict = SSL_get_verify_result(stream_.get());
  const unsigned long error = ERR_peek_last_error();
  if (verdict != X509_V_OK) {
    why_ =
        std::string("the certificate is not believed: ") + X509_verify_cert_error_string(verdict);
  } else if (const char* reason = error == 0 ? nullptr : ERR_reason_error_string(error)) {
    why_ = reason;
  }
  ERR_clear_error();
  return Step::failed;
}

TlsStream::Step TlsStream::handshake() {
  if (is_up_ || ended_) {
    return is_up_ && !failed_ ? Step::ready : Step::failed;
  }
  ERR_clear_error();
  const int returned = SSL_do_handshake(stream_.get());
  if (returned == 1) {
    is_up_ = true;
    return Step::ready;
  }
  return judge(returned);
}

ssize_t TlsStream::receive(std::span<char> room) {
  REMORA_CHECK(room.size() >= record_bytes, "a record would be left in part");
  std::size_t count = 0;
  Step step = handshake();
  while (step == Step::ready && !ended_ && room.size() - count >= record_bytes) {
    ERR_clear_error();
    std::size_t got = 0;
    const int returned = SSL_read_ex(stream_.get(), room.data() + count, room.size() - count, &got);
    step = returned == 1 ? Step::ready : judge(returned);
    count += returned == 1 ? got : 0;
  }
  if (count != 0) {
    return static_cast<ssize_t>(count);
  }
  if (ended_ && !failed_) {
    return 0;
  }
  errno = failed_ ? ECONNRESET : EAGAIN;
  return -1;
}

ssize_t TlsStream::send(std::string_view bytes) {
  std::size_t count = 0;
  Step step = handshake();
  while (step == Step::ready && count < bytes.size()) {
    ERR_clear_error();
    std::size_t sent = 0;
    const int returned =
        SSL_write_ex(stream_.get(), bytes.data() + count, bytes.size() - count, &sent);
    step = returned == 1 ? Step::ready : judge(returned);
    count += returned == 1 ? sent : 0;
  }
  if (count != 0 || bytes.empty()) {
    return static_cast<ssize_t>(count);
  }
  errno = failed_ ? EPIPE : EAGAIN;
  return -1;
}

void TlsStream::say_goodbye() {
  if (is_up_ && !failed_) {
    ERR_clear_error();
    (void)SSL_shutdown(stream_.get());
    ERR_clear_error();
  }
}

}  // namespace remora
