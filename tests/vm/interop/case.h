// InteropTest: what every case of the interoperation list begins with: a station on this machine,
// one on the other, and the two connected on the case's own terms.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "tests/vm/interop/servant.h"

namespace remora::fabric::interop {

// What main was told: this side's station, and the servant.
struct Setting {
  StationOptions options;
  std::unique_ptr<Remote> far;
  bool introduced = false;  // both stations have been described
};
Setting& setting();

class InteropTest : public testing::Test {
 protected:
  static constexpr std::size_t mega = 1 << 20;

  // A case calls this first, by ASSERT_NO_FATAL_FAILURE.
  void meet(const Terms& terms = {});
  void TearDown() override { near_.reset(); }

  Remote& far() { return *setting().far; }
  Station& near() { return *near_; }
  Bytes near_bytes(std::size_t offset, std::size_t size) {
    return near_->memory().subspan(offset, size);
  }

  // Bytes that differ from those of another number, of another place, and from zero.
  static std::vector<std::byte> pattern(std::size_t size, std::uint64_t number);
  void fill_near(std::size_t offset, std::size_t size, std::uint64_t number);
  void fill_far(std::size_t offset, std::size_t size, std::uint64_t number);
  // Whether far has these bytes there, and zeros before and behind.
  testing::AssertionResult far_has(std::size_t offset, ConstBytes bytes);
  testing::AssertionResult near_has(std::size_t offset, ConstBytes bytes);

  // Posts it, and the completion of it.
  WorkCompletion run(SendWork work);
  WorkStatus run(Opcode opcode, std::size_t near_offset, std::size_t size, RemoteAddress remote);
  // Posts without waiting.
  void post(SendWork work);
  WorkCompletion next();
  // The old value of the word, by an atomic.
  std::uint64_t atomic(Opcode opcode, RemoteAddress word, std::uint64_t operand,
                       std::uint64_t compare = 0);
  std::uint64_t far_word(std::size_t offset);

  // By what its device says; a case on what is not there is skipped, which is told.
  bool far_has_native(const std::string& capability) {
    return far().description().find(capability + ": native") != std::string::npos;
  }
  // What the kernel's rxe (Linux 6.12) says where the standard has another word for it.
  bool near_is_rxe() { return near().description().starts_with("verbs:rxe"); }
  bool far_is_rxe() { return far().description().starts_with("verbs:rxe"); }

 private:
  std::unique_ptr<Station> near_;
};

}  // namespace remora::fabric::interop
