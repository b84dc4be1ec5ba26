#include "cli/product/grow_served.h"

#include <fmt/format.h>

#include "base/size_text.h"
#include "cli/exit_status.h"
#include "cli/json_output.h"
#include "cli/product/connection.h"
#include "server/settings.h"

namespace remora::cli {
namespace {

constexpr std::uint64_t look_growth_ns = 20'000'000;

std::string fact(const Facts& facts, std::string_view name, const char* otherwise) {
  return find_fact(facts, name).value_or(otherwise);
}

std::string next_to(const std::string& pool) {
  server::Settings settings;
  settings.pool = pool;
  return server::socket_of(settings);
}

}  // namespace

int grow_served(const GrowServedArguments& arguments, const Status& in_use) {
  const std::string socket = arguments.socket.empty() ? next_to(arguments.path) : arguments.socket;
  ConnectArguments where;
  where.socket = socket;
  where.token = arguments.token;
  Expected<Store> opened = open_store(where);
  if (!opened) {
    const Status why = to_status(opened.error());
    return fail(Status(in_use.code(),
                       fmt::format("{}; and its server does not answer at {}: {}; --socket names "
                                   "another place",
                                   in_use.message(), socket, why.message())));
  }
  Expected<Facts> now = opened->grow(arguments.size_bytes, arguments.path);
  while (now.ok() && fact(*now, "pool_growing_to", "0") != "0") {
    opened->run_for(look_growth_ns);
    now = opened->facts();
  }
  if (!now) {
    return fail(now.error());
  }
  if (const std::string failure = fact(*now, "pool_growth_failure", "none"); failure != "none") {
    return fail(Status(Code::io_error, fmt::format("cannot grow {}: {}", arguments.path, failure)));
  }
  const std::uint64_t pool_bytes = std::stoull(fact(*now, "pool_bytes", "0"));
  if (arguments.json) {
    print_json({{"path", arguments.path}, {"size_bytes", pool_bytes}, {"served", true}});
  } else {
    fmt::print("pool         {}\n", arguments.path);
    fmt::print("size         {}; its server went on\n", format_size(pool_bytes));
  }
  return exit_kept;
}

}  // namespace remora::cli
