// Outages of the provider at 50 chats a second: the time from their end to the first success, model calls per chat
// during them, and failed chats at random errors. The server has one core, and the generator with the fake LLM another one.
//                                                                          node bench/outage.mjs [--root ../other-checkout]
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { cleanUp, ms, offer, percent, Provider, startServer } from './loaded-server.mjs';
import { record } from './results.mjs';

const { values } = parseArgs({ options: { root: { type: 'string' } } });
const PER_SECOND = 50;
/** Longer than any chat of this measurement. */
const CLIENT = { timeoutMs: 60_000 };
const UNAVAILABLE = { status: 503 };
const LIMITED = { status: 429, headers: { 'retry-after': '1' } };

const provider = await new Provider().start();
provider.ms = 50;
const rows = [];

function report(name, result, ceiling) {
  console.log(`${name}: ${result} (at most ${ceiling})`);
  rows.push({ name, result, ceiling });
}

/** Runs a measurement with a server of its own that has served normal load. */
async function withServer(work) {
  const server = await startServer(provider, {}, values.root);
  await offer(server.port, PER_SECOND, 3, CLIENT);
  await work(server.port);
  await server.end();
  provider.fault = () => null;
}

for (const seconds of [0.2, 1, 5, 30]) {
  await withServer(async (port) => {
    const load = offer(port, PER_SECOND, seconds + 5, CLIENT);
    provider.fault = () => UNAVAILABLE;
    await pause(seconds * 1000);
    provider.fault = () => null;
    const end = performance.now();
    const firstAt = Math.min(
      ...(await load).filter(({ status, at }) => status === 200 && at > end).map(({ at }) => at),
    );
    report(`first success after an outage of ${seconds} s`, ms(firstAt - end), '1500 ms');
  });
}

for (const fault of [UNAVAILABLE, LIMITED]) {
  await withServer(async (port) => {
    const before = provider.calls;
    provider.fault = () => fault;
    const chats = await offer(port, PER_SECOND, 30, CLIENT);
    report(
      `model calls per chat in 30 s of status ${fault.status}`,
      ((provider.calls - before) / chats.length).toFixed(2),
      '1.25',
    );
  });
}

for (const [share, maxCalls, maxFailed] of [
  [0.5, '1.8', '15 %'],
  [0.3, '', '4 %'],
]) {
  await withServer(async (port) => {
    const before = provider.calls;
    provider.fault = () => (Math.random() < share ? { status: 500 } : null);
    const chats = await offer(port, PER_SECOND, 30, CLIENT);
    const failed = chats.filter(({ status }) => status !== 200).length / chats.length;
    report(`failed chats at ${percent(share)} random errors`, `${(100 * failed).toFixed(1)} %`, maxFailed);
    const calls = ((provider.calls - before) / chats.length).toFixed(2);
    if (maxCalls) report(`model calls per chat at ${percent(share)} random errors`, calls, maxCalls);
  });
}
provider.close();
cleanUp();
record('outage', rows);
