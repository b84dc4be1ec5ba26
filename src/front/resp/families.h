// The commands, by family; table.cpp says what each is called and what it takes.
#pragma once

#include "front/resp/command.h"

namespace remora::resp {

// strings.cpp
Done get(Call& call);
Done set(Call& call);
Done setex(Call& call);
Done psetex(Call& call);
Done setnx(Call& call);
Done getset(Call& call);
Done getex(Call& call);
Done getdel(Call& call);
Done mget(Call& call);
Done mset(Call& call);
Done msetnx(Call& call);

// lcs.cpp
Done lcs(Call& call);

// string_parts.cpp
Done getrange(Call& call);
Done setrange(Call& call);
Done append(Call& call);
Done strlen(Call& call);
Done incr(Call& call);
Done decr(Call& call);
Done incrby(Call& call);
Done decrby(Call& call);
Done incrbyfloat(Call& call);

// bits.cpp
Done getbit(Call& call);
Done setbit(Call& call);
Done bitcount(Call& call);
Done bitpos(Call& call);

// keys.cpp
Done del(Call& call);
Done exists(Call& call);
Done type(Call& call);
Done object(Call& call);
Done rename(Call& call);
Done renamenx(Call& call);
Done copy(Call& call);
Done scan(Call& call);
Done keys(Call& call);
Done dbsize(Call& call);
Done randomkey(Call& call);
Done flushall(Call& call);

// expiry.cpp
Done expire(Call& call);
Done pexpire(Call& call);
Done expireat(Call& call);
Done pexpireat(Call& call);
Done ttl(Call& call);
Done pttl(Call& call);
Done expiretime(Call& call);
Done pexpiretime(Call& call);
Done persist(Call& call);

// connection_commands.cpp
Done ping(Call& call);
Done echo(Call& call);
Done quit(Call& call);
Done hello(Call& call);
Done auth(Call& call);
Done select(Call& call);
Done reset(Call& call);
Done waitaof(Call& call);

// Names the client; false: the reply is written.
bool take_name(Call& call, std::string_view name);
// Whether the number names the database that there is; else the reply is written.
bool is_database(Call& call, std::string_view text);

// transactions.cpp
Done multi(Call& call);
Done exec(Call& call);
Done discard(Call& call);
Done watch(Call& call);
Done unwatch(Call& call);

// clients.cpp
Done client(Call& call);

// info.cpp
Done info(Call& call);

// slow_commands.cpp
Done slowlog(Call& call);

// latency_commands.cpp
Done latency(Call& call);

// debugging.cpp
Done debug(Call& call);
Done monitor(Call& call);

// server_commands.cpp
Done command(Call& call);
Done config(Call& call);
Done time(Call& call);

}  // namespace remora::resp
