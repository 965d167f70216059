// Serves one MCP client over standard input and output, until the input ends or a signal comes.
import { Writable } from 'node:stream';

// A client may close the log; the protocol continues.
process.stderr.on('error', () => undefined);

try {
  const { serveStdio } = await import('./server/mcp-bootstrap.js');
  await serveStdio(process.stdin, ownStdout());
} catch (error) {
  const isOurs = error instanceof Error && error.name === 'AppError';
  process.stderr.write(`${isOurs ? error.message : error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
}

/** Reserves standard output for the protocol. Other output, such as a tool's `console.log`, goes to standard error. */
function ownStdout(): Writable {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  // The input of a disconnected client ends too.
  process.stdout.on('error', () => undefined);
  return new Writable({
    decodeStrings: false,
    write: (chunk: string | Uint8Array, encoding, done) => void write(chunk, encoding, done),
  });
}
