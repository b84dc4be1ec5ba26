// What programs do with ioredis, at the port that is given: sessions, a cache, pipelines in
// transactions, a limit by INCR and EXPIRE, a lock by SET NX and WATCH. Ends with status 77 where
// ioredis is not found; NODE_PATH tells node where to look for it.
'use strict';
const assert = require('assert');
let Redis;
try {
  Redis = require('ioredis');
} catch (missing) {
  if (missing.code !== 'MODULE_NOT_FOUND') throw missing;
  console.log('node finds no module ioredis');
  process.exit(77);
}
const port = Number(process.argv[2]);
const connect = () => new Redis({ host: '127.0.0.1', port });

const cases = {
  async sessions(c) {
    assert.strictEqual(await c.set('sess:one', '{"user":"Ada"}', 'EX', 86400), 'OK');
    assert.strictEqual(await c.get('sess:one'), '{"user":"Ada"}');
    assert.strictEqual(await c.expire('sess:one', 60), 1);
    assert.ok(await c.ttl('sess:one') <= 60);
    const keys = [];
    for await (const some of c.scanStream({ match: 'sess:*' })) keys.push(...some);
    assert.deepStrictEqual(keys, ['sess:one']);
    assert.strictEqual(await c.del('sess:one'), 1);
  },
  // As keyv and cache-manager keep values.
  async a_cache(c) {
    await c.mset({ 'cache:a': 1, 'cache:b': 2 });
    assert.deepStrictEqual(await c.mget('cache:a', 'cache:b', 'cache:c'), ['1', '2', null]);
    assert.strictEqual(await c.set('cache:c', 'v', 'PX', 100000, 'NX'), 'OK');
    assert.strictEqual(await c.unlink('cache:a', 'cache:b', 'cache:c'), 3);
    const bytes = Buffer.from([0, 255, 13, 10, 128]);
    await c.set('bytes', bytes);
    assert.deepStrictEqual(await c.getBuffer('bytes'), bytes);
  },
  async pipelines_in_transactions(c) {
    const all = await c.pipeline().set('p', 5).incr('p').get('p').exec();
    assert.deepStrictEqual(all, [[null, 'OK'], [null, 6], [null, '6']]);
    assert.deepStrictEqual(await c.multi().incr('p').incr('p').exec(), [[null, 7], [null, 8]]);
    await assert.rejects(c.multi().set('never', 1).hset('h', 'f', 'v').exec(), /EXECABORT/);
    assert.strictEqual(await c.exists('never'), 0);
  },
  async a_limit(c) {
    for (let i = 1; i <= 5; ++i) {
      const [[, count]] = await c.multi().incr('limit:ip').expire('limit:ip', 60).exec();
      assert.strictEqual(count <= 3, i <= 3, 'three are let in');
    }
  },
  async a_lock(c) {
    const other = connect();
    assert.strictEqual(await c.set('lock', 'mine', 'PX', 60000, 'NX'), 'OK');
    assert.strictEqual(await other.set('lock', 'theirs', 'PX', 60000, 'NX'), null);
    await c.watch('lock');
    assert.strictEqual(await c.get('lock'), 'mine');
    await other.set('lock', 'theirs');
    assert.strictEqual(await c.multi().del('lock').exec(), null);
    await c.watch('lock');
    assert.deepStrictEqual(await c.multi().del('lock').exec(), [[null, 1]]);
    other.disconnect();
  },
  async what_is_not_here_is_named(c) {
    await assert.rejects(c.eval('return 1', 0), /no scripts/);
    await assert.rejects(c.subscribe('channel'), /no channels/);
  },
};

(async () => {
  const client = connect();
  for (const [name, run] of Object.entries(cases)) {
    await run(client);
    console.log(name);
  }
  await client.quit();
})().catch(error => {
  console.error(error);
  process.exit(1);
});
