import { Log } from '../errors/index.js';
import { executingCall } from '../tool/call/index.js';

const logger = new Log('Process');
/** Closed pipes in the context of calls within a second above which the pipe is that of the log. */
const MAX_CLOSED_PIPES = 10;

/**
 * Logs errors that no code handles, such as a rejection that a tool does not await, with the tool in whose call they
 * occurred. The process continues: it also executes other runs. Only for a server: a host decides this itself.
 * @returns a function that removes the listeners
 */
export function logUnhandledErrors(): () => void {
  const isOfLog = closedPipes();
  const thrown = (error: unknown): void => {
    // The log itself cannot be written: another line would fail in the same way.
    if ((error as { code?: unknown } | null)?.code === 'EPIPE' && isOfLog(executingCall() !== undefined))
      process.exit(1);
    log(error, 'Uncaught exception');
  };
  process.on('unhandledRejection', rejected);
  process.on('uncaughtException', thrown);
  return () => {
    process.off('unhandledRejection', rejected);
    process.off('uncaughtException', thrown);
  };
}

/**
 * Returns a check whether a closed pipe is that of the log. A line that is logged in a call fails in the call's context,
 * as does a socket of the tool; but each line about a line that failed comes at once.
 */
function closedPipes(): (isInCall: boolean) => boolean {
  let count = 0;
  let second = 0;
  return (isInCall) => {
    const now = Math.floor(performance.now() / 1000);
    count = now === second ? count + 1 : 1;
    second = now;
    return !isInCall || count > MAX_CLOSED_PIPES;
  };
}

function log(err: unknown, what: string): void {
  const { tool, runId: run_id } = executingCall() ?? {};
  const place = tool === undefined ? '' : ` in tool "${tool}"`;
  logger.error({ err, ...(tool !== undefined && { tool, run_id }) }, `${what}${place}; the server continues`);
}

function rejected(reason: unknown): void {
  log(reason, 'Unhandled promise rejection');
}
