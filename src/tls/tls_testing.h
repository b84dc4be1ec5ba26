// For tests: certificates that are made on the spot. An authority, and a certificate of it for
// 127.0.0.1, ::1 and localhost; each call makes others.
#pragma once

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <cstdio>
#include <memory>
#include <string>

namespace remora {

struct TestCertificates {
  std::string authority;  // PEM files
  std::string certificate;
  std::string key;
};

namespace tls_testing {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

inline void extend(X509* certificate, int kind, const char* value) {
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value);
  ASSERT_NE(extension, nullptr) << value;
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

inline Certificate certificate_of(EVP_PKEY* key, const char* name, long serial) {
  constexpr long day_s = 24 * 60 * 60;
  Certificate made(X509_new(), X509_free);
  X509_set_version(made.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), serial);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), -day_s);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), day_s);
  X509_set_pubkey(made.get(), key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
  return made;
}

inline void write_certificate(const std::string& path, X509* certificate) {
  std::FILE* const file = std::fopen(path.c_str(), "w");
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(PEM_write_X509(file, certificate), 1);
  std::fclose(file);
}

inline void write_key(const std::string& path, EVP_PKEY* key) {
  std::FILE* const file = std::fopen(path.c_str(), "w");
  ASSERT_NE(file, nullptr);
  ::chmod(path.c_str(), 0600);
  EXPECT_EQ(PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr), 1);
  std::fclose(file);
}

}  // namespace tls_testing

// In files whose names begin so.
inline TestCertificates make_certificates(const std::string& prefix,
                                          const char* hosts = "IP:127.0.0.1,IP:::1,DNS:localhost") {
  using namespace tls_testing;
  const TestCertificates files{prefix + "ca.pem", prefix + "cert.pem", prefix + "key.pem"};
  const Key authority_key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const Key key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const Certificate authority = certificate_of(authority_key.get(), "test authority", 1);
  X509_set_issuer_name(authority.get(), X509_get_subject_name(authority.get()));
  extend(authority.get(), NID_basic_constraints, "critical,CA:TRUE");
  EXPECT_NE(X509_sign(authority.get(), authority_key.get(), EVP_sha256()), 0);
  const Certificate certificate = certificate_of(key.get(), "test store", 2);
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(authority.get()));
  extend(certificate.get(), NID_subject_alt_name, hosts);
  EXPECT_NE(X509_sign(certificate.get(), authority_key.get(), EVP_sha256()), 0);
  write_certificate(files.authority, authority.get());
  write_certificate(files.certificate, certificate.get());
  write_key(files.key, key.get());
  return files;
}

}  // namespace remora
