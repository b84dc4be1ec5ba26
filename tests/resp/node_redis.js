// What programs do with node-redis, at the port that is given: sessions, a cache, pipelines in
// transactions, a limit by INCR and EXPIRE, a lock by SET NX and WATCH. Ends with status 77 where
// node-redis is not found; NODE_PATH tells node where to look for it, /usr/share/nodejs on Debian.
'use strict';
const assert = require('assert');
let redis;
try {
  redis = require('redis');
} catch (missing) {
  if (missing.code !== 'MODULE_NOT_FOUND') throw missing;
  console.log('node finds no module redis');
  process.exit(77);
}
const port = Number(process.argv[2]);

async function connect() {
  const client = redis.createClient({ socket: { host: '127.0.0.1', port } });
  client.on('error', error => { throw error; });
  await client.connect();
  return client;
}

const cases = {
  // As connect-redis keeps them for express-session.
  async sessions(c) {
    const session = JSON.stringify({ cookie: { maxAge: 86400000 }, user: 'Ada' });
    assert.strictEqual(await c.set('sess:one', session, { EX: 86400 }), 'OK');
    assert.strictEqual(await c.get('sess:one'), session);
    assert.ok(await c.ttl('sess:one') > 86000);
    assert.strictEqual(await c.expire('sess:one', 60), true);
    assert.ok(await c.ttl('sess:one') <= 60);
    const keys = [];
    for await (const key of c.scanIterator({ MATCH: 'sess:*', COUNT: 10 })) keys.push(key);
    assert.deepStrictEqual(keys, ['sess:one']);
    assert.strictEqual(await c.del('sess:one'), 1);
    assert.strictEqual(await c.get('sess:one'), null);
  },
  async a_cache(c) {
    const many = {};
    for (let i = 0; i < 100; ++i) many['cache:' + i] = 'value ' + i;
    assert.strictEqual(await c.mSet(many), 'OK');
    assert.deepStrictEqual(await c.mGet(Object.keys(many)), Object.values(many));
    assert.strictEqual(await c.setEx('cache:short', 100, 'x'), 'OK');
    assert.strictEqual(await c.set('cache:kept', 'y', { PX: 1, XX: true }), null);
    assert.strictEqual(await c.getEx('cache:short', { PERSIST: true }), 'x');
    assert.strictEqual(await c.ttl('cache:short'), -1);
    assert.strictEqual(await c.unlink([...Object.keys(many), 'cache:short']), 101);
    const bytes = Buffer.from([0, 255, 13, 10, 128]);
    await c.set('bytes', bytes);
    assert.deepStrictEqual(await c.get(redis.commandOptions({ returnBuffers: true }), 'bytes'), bytes);
  },
  async pipelines_in_transactions(c) {
    assert.deepStrictEqual(
      await c.multi().set('p', '5').incr('p').get('p').exec(), ['OK', 6, '6']);
    // All at once, one after the other on the wire.
    const replies = await Promise.all(Array.from({ length: 500 }, () => c.incr('counter')));
    assert.deepStrictEqual(replies, Array.from({ length: 500 }, (_, i) => i + 1));
    await assert.rejects(c.multi().set('never', '1').addCommand(['HSET', 'h', 'f', 'v']).exec(), /hashes|EXECABORT|unknown/);
    assert.strictEqual(await c.exists('never'), 0);
  },
  async a_limit(c) {
    for (let i = 1; i <= 5; ++i) {
      const [count] = await c.multi().incr('limit:ip').expire('limit:ip', 60).exec();
      assert.strictEqual(count <= 3, i <= 3, 'three are let in');
    }
    assert.ok(await c.ttl('limit:ip') > 50);
  },
  async a_lock(c) {
    const other = await connect();
    assert.strictEqual(await c.set('lock', 'mine', { NX: true, PX: 60000 }), 'OK');
    assert.strictEqual(await other.set('lock', 'theirs', { NX: true, PX: 60000 }), null);
    // Given back only by its owner, and only while it is still the owner's.
    await c.watch('lock');
    assert.strictEqual(await c.get('lock'), 'mine');
    assert.deepStrictEqual(await c.multi().del('lock').exec(), [1]);
    assert.strictEqual(await other.set('lock', 'theirs', { NX: true, PX: 60000 }), 'OK');
    await c.set('lock', 'mine');
    await c.watch('lock');
    assert.strictEqual(await c.get('lock'), 'mine');
    await other.set('lock', 'theirs');
    await assert.rejects(c.multi().del('lock').exec(), redis.WatchError);
    assert.strictEqual(await other.getDel('lock'), 'theirs');
    await other.quit();
  },
  async what_is_not_here_is_named(c) {
    await assert.rejects(c.eval('return 1', { keys: [], arguments: [] }), /no scripts/);
    await assert.rejects(c.hSet('h', 'f', 'v'), /no hashes/);
    await assert.rejects(c.select(1), /out of range/);
    assert.match(await c.info('memory'), /used_memory:[1-9]/);
    assert.ok(await c.clientId() > 0);
  },
};

(async () => {
  const client = await connect();
  for (const [name, run] of Object.entries(cases)) {
    await run(client);
    console.log(name);
  }
  await client.quit();
})().catch(error => {
  console.error(error);
  process.exit(1);
});
