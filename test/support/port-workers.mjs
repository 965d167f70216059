// Two workers of node:cluster that serve one port, each with a data folder of its own. Prints "ready <url>"; a line of
// input stops the first worker, and "stopping" is printed when its signal handlers have run.
import cluster from 'node:cluster';
import { once } from 'node:events';
import { join } from 'node:path';

const { DATA_DIR } = process.env;
if (cluster.isPrimary) {
  const workers = ['one', 'two'].map((name) => cluster.fork({ DATA_DIR: join(DATA_DIR, name) }));
  const [first] = workers;
  const addresses = await Promise.all(workers.map((worker) => once(worker, 'listening')));
  first.on('message', (message) => process.stdout.write(`${message}\n`));
  first.once('exit', (code, signal) => process.stdout.write(`ended ${code ?? signal}\n`));
  process.stdin.once('data', () => first.process.kill('SIGTERM'));
  process.stdout.write(`ready http://127.0.0.1:${addresses[0][0].port}\n`);
} else {
  const { serve } = await import('../../dist/server/bootstrap.js');
  await serve();
  process.once('SIGTERM', () => process.send('stopping'));
}
