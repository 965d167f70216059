// A server with a health port in a process of its own, and a second health port with a limit of 3 s. Lines of standard input:
// `block PATH` blocks the event loop until the file exists, `close` closes the server, after which the process must end.
import { existsSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { HealthPort } from '../../dist/health/index.js';
import { serve } from '../../dist/index.js';

const server = await serve();
const strict = new HealthPort(async () => ({ status: 'ok' }), 3_000);
await strict.listen({ port: 0, host: '127.0.0.1', prefix: '' });

const commands = createInterface({ input: process.stdin });
commands.on('line', (line) => {
  const [command, path] = line.split(' ');
  if (command === 'close') {
    commands.close();
    process.stdin.destroy();
    void server.close();
  } else {
    // Written at once, unlike console.log to a pipe.
    writeSync(1, 'blocked\n');
    while (!existsSync(path));
  }
});
process.stdout.write(`strict http://127.0.0.1:${strict.port}\n`);
process.stdout.write(`ready ${server.url}\n`);
