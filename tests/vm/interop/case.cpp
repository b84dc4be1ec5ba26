#include "tests/vm/interop/case.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/hash.h"

namespace remora::fabric::interop {
namespace {

constexpr std::size_t guard_bytes = 64;

testing::AssertionResult same(ConstBytes wanted, ConstBytes found) {
  const auto [at, other] = std::ranges::mismatch(wanted, found);
  if (at == wanted.end() && other == found.end()) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure()
         << "byte " << at - wanted.begin() << " of " << wanted.size() << " differs";
}

}  // namespace

Setting& setting() {
  static Setting one;
  return one;
}

void InteropTest::meet(const Terms& terms) {
  near_.reset();
  Status opened = far().open(terms);
  ASSERT_TRUE(opened.ok()) << "far: " << opened.message();
  auto station = Station::open(setting().options, terms.loss_ppm, terms.loss_seed);
  ASSERT_TRUE(station.ok()) << "near: " << station.status().message();
  near_ = std::move(station).value();
  if (!setting().introduced) {
    setting().introduced = true;
    fmt::print("near: {}\nfar: {}\n", near_->description(), far().description());
  }
  const Status connected = far().connect(*near_, terms);
  ASSERT_TRUE(connected.ok()) << connected.message();
}

std::vector<std::byte> InteropTest::pattern(std::size_t size, std::uint64_t number) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t word = mix(number * 1'000'003 + i / word_bytes);
    bytes[i] = static_cast<std::byte>(word >> (8 * (i % word_bytes))) | std::byte{1};
  }
  return bytes;
}

void InteropTest::fill_near(std::size_t offset, std::size_t size, std::uint64_t number) {
  std::ranges::copy(pattern(size, number), near_bytes(offset, size).begin());
}

void InteropTest::fill_far(std::size_t offset, std::size_t size, std::uint64_t number) {
  far().put(near(), offset, pattern(size, number));
}

testing::AssertionResult InteropTest::far_has(std::size_t offset, ConstBytes bytes) {
  const std::size_t before = std::min(offset, guard_bytes);
  const std::vector<std::byte> found =
      far().get(near(), offset - before, before + bytes.size() + guard_bytes);
  std::vector<std::byte> wanted(found.size());
  std::ranges::copy(bytes, wanted.begin() + static_cast<std::ptrdiff_t>(before));
  return same(wanted, found);
}

testing::AssertionResult InteropTest::near_has(std::size_t offset, ConstBytes bytes) {
  return same(bytes, near_bytes(offset, bytes.size()));
}

void InteropTest::post(SendWork work) {
  const Status status = near().qp().post_send(std::span(&work, 1));
  ASSERT_TRUE(status.ok()) << status.message();
}

WorkCompletion InteropTest::next() {
  WorkCompletion completion{.status = WorkStatus::general_error};
  EXPECT_TRUE(near().run_until([&] { return near().queue().poll(std::span(&completion, 1)) == 1; }))
      << "no completion came";
  return completion;
}

WorkCompletion InteropTest::run(SendWork work) {
  post(work);
  return next();
}

WorkStatus InteropTest::run(Opcode opcode, std::size_t near_offset, std::size_t size,
                            RemoteAddress remote) {
  const Sge piece = near().region().piece(near_offset, size);
  return run({.id = 1, .opcode = opcode, .pieces = std::span(&piece, 1), .remote = remote}).status;
}

std::uint64_t InteropTest::atomic(Opcode opcode, RemoteAddress word, std::uint64_t operand,
                                  std::uint64_t compare) {
  constexpr std::size_t result_offset = 3 * mega;
  const Sge piece = near().region().piece(result_offset, word_bytes);
  const WorkCompletion completion = run({.id = 1,
                                         .opcode = opcode,
                                         .pieces = std::span(&piece, 1),
                                         .remote = word,
                                         .compare = compare,
                                         .operand = operand});
  EXPECT_EQ(completion.status, WorkStatus::success);
  return load<std::uint64_t>(near().memory().data() + result_offset);
}

std::uint64_t InteropTest::far_word(std::size_t offset) {
  return load<std::uint64_t>(far().get(near(), offset, word_bytes).data());
}

}  // namespace remora::fabric::interop
