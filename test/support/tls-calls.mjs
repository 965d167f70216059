// Calls the addresses of CALLS as tools do, where every name resolves to this machine, and prints each outcome.
import { loadConfig } from '../../dist/config/index.js';
import { OutgoingClient } from '../../dist/security/egress/index.js';

const lookup = (_name, _options, callback) => setImmediate(() => callback(null, [{ address: '127.0.0.1', family: 4 }]));
const { CALLS, OUTGOING_ALLOW } = process.env;
const client = new OutgoingClient(loadConfig({ env: { OUTGOING_ALLOW } }).config.security.outgoing, { lookup });
for (const url of CALLS.split(' ')) {
  const outcome = await client.send({ url, method: 'GET' }).then(
    ({ body }) => body.toString(),
    ({ message }) => message,
  );
  process.stdout.write(`${outcome}\n`);
}
await client.close();
