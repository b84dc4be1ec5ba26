#include "cli/product/scrub.h"

#include <fmt/core.h>

#include <charconv>
#include <optional>

#include "cli/exit_status.h"
#include "cli/json_output.h"
#include "runtime/progress.h"

namespace remora::cli {
namespace {

constexpr std::uint64_t look_every_ns = 50'000'000;

std::uint64_t number_of(const Facts& facts, std::string_view name) {
  const std::string text = find_fact(facts, name).value_or("0");
  std::uint64_t number = 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

int scrub_command(const ConnectArguments& where, bool json) {
  Expected<Store> opened = open_store(where);
  if (!opened) {
    return fail(opened.error());
  }
  Store& store = *opened;
  const Expected<Facts> before = store.scrub();
  if (!before) {
    return fail(before.error());
  }
  Expected<Facts> now = store.facts();
  {
    Progress progress("scrub", "keys", number_of(*before, "keys"));
    while (now.ok() && number_of(*now, "scrub_passes") == number_of(*before, "scrub_passes")) {
      progress.show(number_of(*now, "scrub_reached"));
      store.run_for(look_every_ns);
      now = store.facts();
    }
  }
  if (!now) {
    return fail(now.error());
  }
  const std::uint64_t keys = number_of(*now, "scrub_last_keys");
  const std::uint64_t damaged = number_of(*now, "scrub_last_damaged");
  if (json) {
    print_json({{"keys", keys}, {"damaged", damaged}, {"sound", damaged == 0}});
  } else if (damaged == 0) {
    fmt::print("sound: {} keys verified\n", keys);
  } else {
    fmt::print(
        "damaged: {} of {} keys; each answers so until it is put again or deleted. 'remora pool "
        "check' names them when the store is stopped\n",
        damaged, keys);
  }
  return damaged == 0 ? exit_kept : exit_broken;
}

}  // namespace remora::cli
