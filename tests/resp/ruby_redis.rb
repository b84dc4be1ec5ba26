# What programs do with Ruby's redis, at the port that is given: sessions, a cache, pipelines in
# transactions, a limit by INCR and EXPIRE, a lock by SET NX and WATCH. Ends with status 77 where it
# is not installed.
begin
  require "redis"
rescue LoadError => missing
  puts missing
  exit 77
end

PORT = ARGV.fetch(0).to_i
def connect = Redis.new(host: "127.0.0.1", port: PORT)
def assert(holds, what = "") = holds || raise("not so: #{what} (#{caller(1..1).first})")
def assert_equal(expected, got) = assert(expected == got, "#{got.inspect} is #{expected.inspect}")
def assert_error(pattern)
  yield
  raise "no error (#{caller(1..1).first})"
rescue Redis::CommandError => error
  assert(error.message =~ pattern, error.message)
end

# As redis-store keeps them for Rails.
def sessions(r)
  session = Marshal.dump({ "user" => "Ada", "cart" => [1, 2] })
  assert_equal "OK", r.setex("session:one", 86_400, session)
  assert_equal "Ada", Marshal.load(r.get("session:one"))["user"]
  assert r.ttl("session:one") > 86_000
  assert r.expire("session:one", 60)
  assert r.ttl("session:one") <= 60
  assert_equal ["session:one"], r.scan_each(match: "session:*").to_a
  assert_equal 1, r.del("session:one")
end

def a_cache(r)
  values = (0...100).to_h { |i| ["cache:#{i}", "value #{i}"] }
  assert_equal "OK", r.mapped_mset(values)
  assert_equal values, r.mapped_mget(*values.keys)
  assert_equal false, r.set("cache:new", "x", xx: true)
  assert_equal true, r.set("cache:new", "x", nx: true, px: 100_000)
  assert_equal "x", r.getex("cache:new", persist: true)
  assert_equal(-1, r.ttl("cache:new"))
  assert_equal 101, r.unlink(*values.keys, "cache:new")
  bytes = [0, 255, 13, 10, 128].pack("C*")
  r.set("bytes", bytes)
  assert_equal bytes, r.get("bytes").b
end

def pipelines_in_transactions(r)
  assert_equal ["OK", 6, "6"], (r.multi { |m| m.set("p", 5); m.incr("p"); m.get("p") })
  assert_equal (1..500).to_a, (r.pipelined { |p| 500.times { p.incr("counter") } })
  assert_error(/no hashes/) { r.multi { |m| m.set("never", 1); m.hset("h", "f", "v") } }
  assert_equal 0, r.exists("never")
end

def a_limit(r)
  (1..5).each do |i|
    count, = r.multi { |m| m.incr("limit:ip"); m.expire("limit:ip", 60) }
    assert_equal i <= 3, count <= 3
  end
  assert r.ttl("limit:ip") > 50
end

def a_lock(r)
  other = connect
  assert_equal true, r.set("lock", "mine", nx: true, px: 60_000)
  assert_equal false, other.set("lock", "theirs", nx: true, px: 60_000)
  release = lambda do |between|
    r.watch("lock") do
      next r.unwatch unless r.get("lock") == "mine"
      between.call
      r.multi { |m| m.del("lock") }
    end
  end
  assert_equal nil, release.call(-> { other.set("lock", "theirs") })
  assert_equal "theirs", other.getset("lock", "mine")
  assert_equal [1], release.call(-> {})
  other.quit
end

def what_is_not_here_is_named(r)
  assert_error(/no scripts/) { r.eval("return 1") }
  assert_error(/no lists/) { r.lpush("queue", "job") }
  assert r.info["used_memory"].to_i.positive?
  assert_equal "master", r.info["role"]
end

%i[sessions a_cache pipelines_in_transactions a_limit a_lock what_is_not_here_is_named].each do |name|
  method(name).call(connect)
  puts name
end
