import { createServer, type Server } from 'node:net';

/**
 * Takes a name that one process of this machine can have: an abstract Unix socket, which is no file and which the kernel
 * releases when the process ends. Processes in different network namespaces, such as containers, do not see each other.
 * @returns a function that releases the name; `null` if another process has it. Where the system has no such names, or
 *   forbids them, every process gets them
 */
export async function takeExclusiveName(name: string): Promise<(() => void) | null> {
  if (process.platform !== 'linux') return () => undefined;
  // A peer that connects gets nothing.
  const server = createServer((socket) => socket.destroy());
  const code = await listen(server, `\0${name}`);
  if (code === 'EADDRINUSE') return null;
  server.unref();
  return () => void server.close();
}

/** @returns the code of the error; `undefined` on success */
function listen(server: Server, path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException) => resolve(error.code ?? 'EUNKNOWN');
    server.once('error', fail);
    try {
      // Not shared with the other workers of node:cluster.
      server.listen({ path, exclusive: true }, () => {
        server.off('error', fail);
        server.on('error', () => undefined);
        resolve(undefined);
      });
    } catch (error) {
      // Node's permission model.
      fail(error as NodeJS.ErrnoException);
    }
  });
}
