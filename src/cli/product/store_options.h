// The options of what people do with a store that is served: one list for the command line and for
// the shell. They are added to a parser that the caller has named; what they fill outlives it.
#pragma once

#include <CLI/App.hpp>

#include <string>

#include "cli/product/backup.h"
#include "cli/product/client_commands.h"
#include "cli/product/explain.h"
#include "cli/product/stat.h"
#include "cli/product/top.h"

namespace remora::cli {

void describe_put(CLI::App& app, PutArguments& arguments);
void describe_get(CLI::App& app, GetArguments& arguments, std::string& verify_reads);
void describe_del(CLI::App& app, DelArguments& arguments);
void describe_scan(CLI::App& app, ScanArguments& arguments);
void describe_stat(CLI::App& app, StatArguments& arguments);
void describe_top(CLI::App& app, TopArguments& arguments);
void describe_explain(CLI::App& app, ExplainArguments& arguments);
void describe_backup(CLI::App& app, BackupArguments& arguments);

}  // namespace remora::cli
