import { AppError } from '../errors/index.js';
import type { ServerConfig } from '../config/index.js';

/** Converts a failure to listen on an address to an error with a remedy; returns other errors unchanged. */
export function toListenFailure(cause: unknown, { port, host }: Pick<ServerConfig, 'port' | 'host'>): unknown {
  const reason = reasonOf((cause as { code?: unknown } | null)?.code);
  if (!reason) return cause;
  return new AppError('CONFIG_INVALID', `The server cannot listen on port ${port} of ${host}: ${reason}.`, { cause });
}

function reasonOf(code: unknown): string | undefined {
  switch (code) {
    case 'EADDRINUSE':
      return 'the port is in use; stop the other program, or set another PORT (0 selects a free port)';
    case 'EACCES':
      return 'permission denied; set a PORT of 1024 or higher';
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'it is not an address of this machine; set another HOST';
    default:
      return undefined;
  }
}
