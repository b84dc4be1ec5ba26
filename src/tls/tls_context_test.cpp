#include "tls/tls_context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/folder_testing.h"
#include "tls/tls_testing.h"

namespace remora {
namespace {

using testing::HasSubstr;

class TlsContextTest : public testing::Test {
 protected:
  std::string refusal(const std::string& certificate, const std::string& key) {
    const auto made = TlsContext::server(certificate, key);
    EXPECT_FALSE(made.ok());
    return std::string(made.status().message());
  }

  TestFolder folder_;
  const TestCertificates files_ = make_certificates(folder_.file("one-"));
};

TEST_F(TlsContextTest, takes_files_that_belong_together) {
  EXPECT_TRUE(TlsContext::server(files_.certificate, files_.key).ok());
  EXPECT_TRUE(TlsContext::client(files_.authority).ok());
}

TEST_F(TlsContextTest, says_which_file_is_wrong) {
  EXPECT_THAT(refusal(folder_.file("none"), files_.key), HasSubstr("none"));
  EXPECT_THAT(refusal(files_.certificate, folder_.file("none")), HasSubstr("none"));
  EXPECT_THAT(refusal(files_.key, files_.key), HasSubstr("no certificate in PEM"));
  std::ofstream(folder_.file("empty"));
  ASSERT_EQ(::chmod(folder_.file("empty").c_str(), 0600), 0);
  EXPECT_THAT(refusal(files_.certificate, folder_.file("empty")), HasSubstr("no key in PEM"));
  const TestCertificates others = make_certificates(folder_.file("two-"));
  EXPECT_THAT(refusal(files_.certificate, others.key), HasSubstr("belong"));
  EXPECT_FALSE(TlsContext::client(files_.key).ok());
  EXPECT_FALSE(TlsContext::client(folder_.file("none")).ok());
}

TEST_F(TlsContextTest, refuses_a_key_that_others_can_read) {
  ASSERT_EQ(::chmod(files_.key.c_str(), 0644), 0);
  EXPECT_THAT(refusal(files_.certificate, files_.key), HasSubstr("chmod o= "));
}

TEST_F(TlsContextTest, stays_as_it_is_when_a_file_is_broken_meanwhile) {
  const auto context = TlsContext::server(files_.certificate, files_.key).value();
  const auto* const before = context->get();
  std::ofstream(files_.certificate) << "broken";
  EXPECT_FALSE(context->reload().ok());
  EXPECT_EQ(context->get(), before);
  (void)make_certificates(folder_.file("one-"));
  EXPECT_TRUE(context->reload().ok());
  EXPECT_NE(context->get(), before);
}

}  // namespace
}  // namespace remora
