import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * The suite starts all clients at once, on a machine that may have two processors: as many as it has are busy at a time,
 * so that none is late for what the others do. A place belongs to whoever listens on its socket, and the system frees it
 * when the process ends.
 */
export async function takeTurn() {
  const places = Array.from({ length: availableParallelism() }, (_, place) => addressOf(place));
  for (;;) {
    for (const address of places) if (await isTaken(address)) return;
    await Promise.race(places.map(untilFree));
  }
}

/** A name without a file, where there are such (unix(7), abstract sockets). */
function addressOf(place) {
  const name = `jackdaw-conformance-${process.getuid?.() ?? 0}-${place}`;
  return process.platform === 'linux' ? `\0${name}` : join(tmpdir(), `${name}-${process.ppid}`);
}

async function isTaken(address) {
  // Those that wait are connected: they must not keep this process from its end.
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
