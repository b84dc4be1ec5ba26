// Whether two replies to the same command are alike: those of Redis and of our front end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tests/resp/client.h"
#include "tests/resp/random_command.h"
#include "tests/support/campaign.h"

namespace remora::resp {

// Of a campaign.
extern const CampaignNumber campaign_commands;
extern const CampaignNumber campaign_seed;

// For people.
std::string shown(const std::string& bytes);
std::string shown(const std::vector<std::string>& args);

// All keys that SCAN finds.
std::set<std::string> all_keys(Client& client);

// The reply to HELLO without the number of the connection.
std::string without_id(std::string hello);

// Where the value at this place of a reply ends, and the values of an array.
std::size_t end_of(const std::string& reply, std::size_t at);
std::vector<std::string> elements_of(const std::string& reply);

bool are_alike(const RandomCommand& command, Client& theirs, const std::string& expected,
               Client& ours, const std::string& got);
// Of a command within a transaction: by now the store may be another one than it saw.
bool were_alike(const RandomCommand& command, const std::string& expected, const std::string& got);

}  // namespace remora::resp
