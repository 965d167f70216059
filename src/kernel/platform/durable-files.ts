import { open, rename } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** Windows and some network file systems cannot sync a folder. */
const CANNOT_SYNC = ['EPERM', 'EISDIR', 'EINVAL'];
/** Errors of Windows while another process, such as a virus scanner, has the file open. */
const IN_USE = ['EPERM', 'EBUSY', 'EACCES'];
/** Maximum time for which another process may have the file open, and the time between two attempts, in ms. */
const IN_USE_MS = 1_000;
const RETRY_MS = 20;

/** Makes the names of a folder's files durable, where the file system can do it. @param folder its path */
export async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (!CANNOT_SYNC.includes(codeOf(error))) throw error;
  }
}

/** Renames a file atomically over another one, which on Windows may be open for a moment. */
export async function replaceFile(from: string, to: string): Promise<void> {
  const until = performance.now() + IN_USE_MS;
  for (;;) {
    try {
      return await rename(from, to);
    } catch (error) {
      const isInUse = process.platform === 'win32' && IN_USE.includes(codeOf(error));
      if (!isInUse || performance.now() >= until) throw error;
    }
    await delay(RETRY_MS);
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? '';
}
