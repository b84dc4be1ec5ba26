// The commands, by family; table.cpp says what each is called and what it takes.
#pragma once

#include "resp/command.h"

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

// keys.cpp
Done del(Call& call);
Done exists(Call& call);
Done type(Call& call);
Done rename(Call& call);
Done renamenx(Call& call);
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
Done client(Call& call);
Done waitaof(Call& call);

// server_commands.cpp
Done info(Call& call);
Done command(Call& call);
Done config(Call& call);

}  // namespace remora::resp
