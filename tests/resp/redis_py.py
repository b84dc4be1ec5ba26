"""What programs do with redis-py, at the port that is given: pipelines in transactions, watched keys,
many values at once as django-redis sets them, a queue as rq fills it, locks, limits. Ends with status
77 where redis-py is not installed."""

import sys

try:
    import redis
except ImportError as missing:
    print(missing)
    sys.exit(77)

PORT = int(sys.argv[1])


def connect(**more):
    return redis.Redis(host="127.0.0.1", port=PORT, decode_responses=True, **more)


def a_pipeline_is_a_transaction(r):
    assert r.pipeline().set("p", 5).incr("p").execute() == [True, 6]
    assert r.get("p") == "6"
    # Errors of commands are told, and the other commands have happened.
    replies = r.pipeline().set("word", "x").incr("word").set("p", 7).execute(raise_on_error=False)
    assert replies[0] is True and isinstance(replies[1], redis.ResponseError) and replies[2] is True
    assert r.pipeline(transaction=False).set("p", 8).get("p").execute() == [True, "8"]


def what_raises_an_error_has_no_effect(r):
    for wrong in (("NOSUCH", "x"), ("HSET", "h", "f", "v"), ("GET",)):
        pipe = r.pipeline().set("never", 1).incr("never")
        pipe.execute_command(*wrong)
        try:
            pipe.execute()
            raise AssertionError(f"{wrong} was run")
        except redis.ResponseError:
            pass
        assert not r.exists("never")


def watched_keys_hold_or_nothing_happens(r):
    other = connect()
    r.set("balance", 10)

    def spend(pipe):
        left = int(pipe.get("balance"))
        if spend.disturbed < 2:
            spend.disturbed += 1
            other.decr("balance")
        pipe.multi()
        pipe.set("balance", left - 5)

    spend.disturbed = 0
    r.transaction(spend, "balance")
    assert r.get("balance") == "3", r.get("balance")
    with r.pipeline() as pipe:
        pipe.watch("balance", "absent")
        other.set("absent", 1)
        other.delete("absent")
        pipe.multi()
        pipe.set("balance", 0)
        try:
            pipe.execute()
            raise AssertionError("a watched key changed")
        except redis.WatchError:
            pass
        pipe.watch("balance")
        pipe.unwatch()
        other.incr("balance")
        pipe.set("balance", 1)
        assert pipe.execute() == [True]


def django_redis_sets_many(r):
    pipe = r.pipeline()
    for i in range(100):
        pipe.set(f":1:key-{i}", f"value-{i}", px=3_600_000)
    assert pipe.execute() == [True] * 100
    keys = [f":1:key-{i}" for i in range(100)]
    assert r.mget(keys) == [f"value-{i}" for i in range(100)]
    assert r.pttl(":1:key-7") > 3_000_000
    assert sorted(r.scan_iter(match=":1:key-*", count=10)) == sorted(keys)
    assert r.delete(*keys) == 100


# Its jobs are hashes and its queues are lists, which are not here. So it is told, and no part of a job
# is left behind.
def rq_is_told_that_there_are_no_hashes(r):
    with r.pipeline() as pipe:
        pipe.multi()
        pipe.sadd("rq:queues", "rq:queue:default")
        pipe.hset("rq:job:1", mapping={"status": "queued"})
        pipe.set("rq:job:1:mark", 1)
        pipe.persist("rq:job:1")
        pipe.rpush("rq:queue:default", "1")
        try:
            pipe.execute()
            raise AssertionError("there are no sets")
        except redis.ResponseError as error:
            assert "sadd" in str(error).lower(), error
    assert list(r.scan_iter(match="rq:*")) == []


def limits_and_locks(r):
    for expected in (1, 2, 3):
        count, _ = r.pipeline().incr("limit").expire("limit", 60).execute()
        assert count == expected
    assert r.set("lock", "mine", nx=True, px=60_000) is True
    assert r.set("lock", "theirs", nx=True, px=60_000) is None

    def release(pipe):
        owner = pipe.get("lock")
        pipe.multi()
        if owner == "mine":
            pipe.delete("lock")

    assert r.transaction(release, "lock") == [1]
    assert not r.exists("lock")


def several_keys_at_once(r):
    assert r.mset({"a": 1, "b": 2}) is True
    assert r.msetnx({"b": 3, "c": 3}) is False
    assert r.rename("a", "d") is True and r.renamenx("d", "b") is False
    assert r.copy("b", "e") is True and r.copy("b", "e") is False
    assert r.mget("a", "b", "c", "d", "e") == [None, "2", None, "1", "2"]


def tools_find_what_they_look_for(r):
    info = r.info()
    assert info["used_memory_human"] and info["used_memory_rss"] > 0, info
    assert info["role"] == "master" and info["db0"]["keys"] > 0, info
    assert info["maxmemory"] > 0 and info["total_commands_processed"] > 0, info
    assert r.info("commandstats")["cmdstat_get"]["calls"] > 0
    r.client_setname("tool")
    me = [each for each in r.client_list() if each["name"] == "tool"]
    assert len(me) == 1 and me[0]["addr"] and me[0]["cmd"] == "client", me
    assert r.client_info()["name"] == "tool" and r.client_info()["tot-mem"] >= 0
    used, most = info["used_memory"], info["maxmemory"]
    assert 0 < used < most, info
    r.set("large", "x" * 100_000)
    assert r.info()["used_memory"] >= used + 100_000
    assert r.info()["expired_keys"] >= 0
    assert r.config_get("appendfsync")["appendfsync"] in ("always", "everysec")
    assert r.slowlog_get() == [] or r.slowlog_len() > 0
    assert len(r.time()) == 2 and r.dbsize() > 0
    assert r.object("encoding", "d") == "int"
    r.setbit("bits", 7, 1)
    assert r.bitcount("bits") == 1 and r.getbit("bits", 7) == 1 and r.bitpos("bits", 1) == 7
    try:
        r.eval("return 1", 0)
        raise AssertionError("there are no scripts")
    except redis.ResponseError as error:
        assert "no scripts" in str(error), error


for case in (
    a_pipeline_is_a_transaction,
    what_raises_an_error_has_no_effect,
    watched_keys_hold_or_nothing_happens,
    django_redis_sets_many,
    rq_is_told_that_there_are_no_hashes,
    limits_and_locks,
    several_keys_at_once,
    tools_find_what_they_look_for,
):
    case(connect())
    print(case.__name__)
