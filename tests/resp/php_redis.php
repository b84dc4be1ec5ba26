<?php
// What programs do with phpredis, at the port that is given: sessions (PHP's own handler too), a cache,
// pipelines in transactions, a limit by INCR and EXPIRE, a lock by SET NX and WATCH. Ends with status
// 77 where phpredis is not installed.
if (!extension_loaded('redis')) {
  echo "PHP has no extension redis\n";
  exit(77);
}
$port = (int)$argv[1];

function connect(): Redis {
  global $port;
  $redis = new Redis();
  $redis->connect('127.0.0.1', $port);
  return $redis;
}
function same($expected, $got): void {
  if ($expected !== $got) {
    throw new Exception(var_export($got, true) . ' is not ' . var_export($expected, true));
  }
}

function sessions(Redis $r): void {
  global $port;
  ini_set('session.save_handler', 'redis');
  ini_set('session.save_path', "tcp://127.0.0.1:$port?prefix=session:");
  ini_set('session.use_cookies', '0');
  ini_set('session.cache_limiter', '');
  session_id('one');
  session_start();
  $_SESSION['user'] = 'Ada';
  session_write_close();
  $_SESSION = [];
  session_start();
  same('Ada', $_SESSION['user']);
  session_write_close();
  same(true, $r->ttl('session:one') > 0);
  session_start();
  session_destroy();
  same(0, $r->exists('session:one'));
}

function a_cache(Redis $r): void {
  $values = [];
  for ($i = 0; $i < 100; ++$i) {
    $values["cache:$i"] = "value $i";
  }
  same(true, $r->mSet($values));
  same(array_values($values), $r->mGet(array_keys($values)));
  same(true, $r->setEx('cache:short', 100, 'x'));
  same(false, $r->set('cache:new', 'x', ['xx']));
  same(true, $r->set('cache:new', 'x', ['nx', 'px' => 100000]));
  $found = [];
  $cursor = null;
  $r->setOption(Redis::OPT_SCAN, Redis::SCAN_RETRY);
  while ($some = $r->scan($cursor, 'cache:*', 10)) {
    $found = array_merge($found, $some);
  }
  same(102, count(array_unique($found)));
  same(102, $r->unlink($found));
  $bytes = "\x00\xff\r\n\x80";
  $r->set('bytes', $bytes);
  same($bytes, $r->get('bytes'));
}

function pipelines_in_transactions(Redis $r): void {
  same([true, 6, '6'], $r->multi()->set('p', 5)->incr('p')->get('p')->exec());
  same([true, 8], $r->multi(Redis::PIPELINE)->set('p', 7)->incr('p')->exec());
  $refused = $r->multi()->set('never', 1)->hSet('h', 'f', 'v');
  same(false, $refused instanceof Redis ? $refused->exec() : $refused);
  same(true, str_contains((string)$r->getLastError(), 'EXECABORT') ||
             str_contains((string)$r->getLastError(), 'no hashes'));
  same(0, connect()->exists('never'));
}

function a_limit(Redis $r): void {
  for ($i = 1; $i <= 5; ++$i) {
    [$count] = $r->multi()->incr('limit:ip')->expire('limit:ip', 60)->exec();
    same($i <= 3, $count <= 3);
  }
}

function a_lock(Redis $r): void {
  $other = connect();
  same(true, $r->set('lock', 'mine', ['nx', 'px' => 60000]));
  same(false, $other->set('lock', 'theirs', ['nx', 'px' => 60000]));
  $r->watch('lock');
  same('mine', $r->get('lock'));
  $other->set('lock', 'theirs');
  same(false, $r->multi()->del('lock')->exec());
  $r->watch('lock');
  same([1], $r->multi()->del('lock')->exec());
}

function what_is_not_here_is_named(Redis $r): void {
  same(false, $r->eval('return 1'));
  same(true, str_contains($r->getLastError(), 'no scripts'));
  $info = $r->info();
  same(true, $info['used_memory'] > 0 && $info['role'] === 'master');
}

foreach (['sessions', 'a_cache', 'pipelines_in_transactions', 'a_limit', 'a_lock',
          'what_is_not_here_is_named'] as $name) {
  $name(connect());
  echo "$name\n";
}
