#include "front/resp/absent.h"

#include <cctype>
#include <string>

namespace remora::resp {
namespace {

struct Family {
  std::string_view what;
  std::string_view names;  // a space before and behind each
};

constexpr Family families[] = {
    {"scripts", " eval eval_ro evalsha evalsha_ro fcall fcall_ro function script "},
    {"channels (publish and subscribe)",
     " psubscribe publish pubsub punsubscribe spublish ssubscribe subscribe sunsubscribe "
     "unsubscribe "},
    {"hashes",
     " hdel hexists hget hgetall hincrby hincrbyfloat hkeys hlen hmget hmset hrandfield hscan hset "
     "hsetnx hstrlen hvals "},
    {"lists",
     " blmove blmpop blpop brpop brpoplpush lindex linsert llen lmove lmpop lpop lpos lpush lpushx "
     "lrange lrem lset ltrim rpop rpoplpush rpush rpushx "},
    {"sets",
     " sadd scard sdiff sdiffstore sinter sintercard sinterstore sismember smembers smismember "
     "smove "
     "spop srandmember srem sscan sunion sunionstore "},
    {"sorted sets",
     " bzmpop bzpopmax bzpopmin zadd zcard zcount zdiff zdiffstore zincrby zinter zintercard "
     "zinterstore zlexcount zmpop zmscore zpopmax zpopmin zrandmember zrange zrangebylex "
     "zrangebyscore zrangestore zrank zrem zremrangebylex zremrangebyrank zremrangebyscore "
     "zrevrange "
     "zrevrangebylex zrevrangebyscore zrevrank zscan zscore zunion zunionstore "},
    {"streams",
     " xack xadd xautoclaim xclaim xdel xgroup xinfo xlen xpending xrange xread xreadgroup "
     "xrevrange "
     "xsetid xtrim "},
    {"places on a map",
     " geoadd geodist geohash geopos georadius georadius_ro georadiusbymember georadiusbymember_ro "
     "geosearch geosearchstore "},
    {"counts of distinct values (HyperLogLog)", " pfadd pfcount pfdebug pfmerge pfselftest "},
    {"fields of bits, and bits of several keys", " bitfield bitfield_ro bitop "},
    {"sorting", " sort sort_ro "},
    {"keys as dumps", " dump migrate restore restore-asking "},
    {"snapshots or logs on request (it makes every write persistent by itself)",
     " bgrewriteaof bgsave lastsave save "},
    {"replicas", " failover psync replconf replicaof role slaveof sync wait "},
    {"clusters", " asking cluster readonly readwrite "},
    {"second databases", " move swapdb "},
    {"lists of users by command (remora serve has its own)", " acl "},
    {"modules", " module "},
    {"command for its end (remora stop ends it)", " shutdown "},
};

}  // namespace

std::string_view what_is_absent(std::string_view name) {
  std::string word = " ";
  for (const char letter : name) {
    word += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  word += ' ';
  if (name.find(' ') != std::string_view::npos) {
    return {};
  }
  for (const Family& family : families) {
    if (family.names.find(word) != std::string_view::npos) {
      return family.what;
    }
  }
  return {};
}

}  // namespace remora::resp
