import { AppError } from './common/index.js';
import type { AppConfig } from './config/index.js';

/** The error of an address that cannot be listened on; any other one stays as it is. */
export function toListenFailure(cause: unknown, { port, host }: AppConfig['http']): unknown {
  const reason = reasonOf((cause as { code?: unknown } | null)?.code);
  if (!reason) return cause;
  return new AppError('CONFIG_INVALID', `The server cannot listen on port ${port} of ${host}: ${reason}.`, { cause });
}

function reasonOf(code: unknown): string | undefined {
  switch (code) {
    case 'EADDRINUSE':
      return 'something else does; stop that, or set another PORT (0 takes a free one)';
    case 'EACCES':
      return 'this user may not; set a PORT from 1024 on';
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'it is no address of this machine; set another HOST';
    default:
      return undefined;
  }
}
