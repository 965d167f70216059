// Asks for liveness twice a second in a process of its own, which the load of the generator does not delay.
//                                              node bench/liveness-probe.mjs PORT; a line of its input ends it
import { request } from 'node:http';
import { argv, stdin, stdout } from 'node:process';

const TIMEOUT_MS = 10_000;
const waits = [];

function ask() {
  const from = performance.now();
  const wait = { ms: TIMEOUT_MS, isOpen: true };
  waits.push(wait);
  const done = () => Object.assign(wait, { ms: performance.now() - from, isOpen: false });
  request({ host: '127.0.0.1', port: argv[2], path: '/api/health/live' }, (response) =>
    response.resume().on('end', done),
  )
    .setTimeout(TIMEOUT_MS)
    .on('error', () => Object.assign(wait, { isOpen: false }))
    .end();
}

const timer = setInterval(ask, 500);
async function finish() {
  clearInterval(timer);
  while (waits.some(({ isOpen }) => isOpen)) await new Promise((resolve) => setTimeout(resolve, 50));
  stdout.write(`${Math.max(...waits.map(({ ms }) => ms))}\n`);
  stdin.destroy();
}

stdin.once('data', () => void finish());
