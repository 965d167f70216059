import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * The suite starts all clients at once, even on a machine with two processors. At most one client per processor runs at
 * a time, so that no client times out because of the others. A slot belongs to the process that listens on its socket;
 * the operating system releases the slot when the process ends.
 */
export async function takeTurn() {
  const places = Array.from({ length: availableParallelism() }, (_, place) => addressOf(place));
  for (;;) {
    for (const address of places) if (await isTaken(address)) return;
    await Promise.race(places.map(untilFree));
  }
}

/** A socket address without a file where the system supports it (unix(7), abstract sockets). */
function addressOf(place) {
  const name = `jackdaw-conformance-${process.getuid?.() ?? 0}-${place}`;
  return process.platform === 'linux' ? `\0${name}` : join(tmpdir(), `${name}-${process.ppid}`);
}

async function isTaken(address) {
  // Waiting clients are connected to this server; `unref` lets the process end nevertheless.
  const server = createServer((waiting) => waiting.unref()).unref();
  server.listen(address);
  return once(server, 'listening').then(
    () => true,
    () => false,
  );
}

async function untilFree(address) {
  const socket = connect(address);
  await new Promise((resolve) => socket.once('error', resolve).once('close', resolve));
}
