// Starts the run queue while its PostgreSQL breaks connections, and again when it does not, and prints the outcome.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { Logger } from '@nestjs/common';
import { loadConfig } from '../../dist/config/index.js';
import { BullRunQueue } from '../../dist/run/distributed/bull-run-queue.js';

Logger.overrideLogger(false);
const target = new URL(process.argv[2]);
let isBroken = false;
const open = new Set();
const relay = createServer((socket) => {
  if (isBroken) return void socket.destroy();
  const server = connect(Number(target.port), target.hostname);
  open.add(socket).add(server);
  socket.pipe(server).pipe(socket);
  socket.on('error', () => server.destroy());
  server.on('error', () => socket.destroy());
});
relay.listen(0, '127.0.0.1');
await once(relay, 'listening');
const url = new URL(target);
url.host = `127.0.0.1:${relay.address().port}`;
const { config } = loadConfig({ env: { DATABASE_URL: url.href } });
const queue = new BullRunQueue(config.run, config.database, {
  place: { schema: 'public', key: 'public', connection: { connectionString: url.href, options: '' } },
});
const start = () =>
  queue
    .start(['queue-start'], [], async () => 'done')
    .then(
      () => 'started',
      () => 'refused',
    );
// The tables are created before any connection breaks.
await queue.add([]);
await queue.open();
isBroken = true;
for (const socket of open) socket.destroy();
const first = await start();
isBroken = false;
process.stdout.write(`${first} ${await start()}\n`);
await queue.close();
relay.close();
