import type { ToolContext } from '../../tool/index.js';
import { NotTakenError } from '../connection/not-taken.error.js';
import type { CallWay } from './mcp-call.executor.js';

/** Selects the connection of a call. @throws McpError if the tool must no longer be called */
export type WayOf = (context: ToolContext) => CallWay;

/**
 * Makes a call. Repeats it once on a new connection if the server certainly did not process it, for example because it
 * restarted and no longer knows the session.
 */
export async function callBy<T>(wayOf: WayOf, context: ToolContext, call: (way: CallWay) => Promise<T>): Promise<T> {
  const way = wayOf(context);
  try {
    return await call(way);
  } catch (error) {
    if (!(error instanceof NotTakenError)) throw error;
    await way.connection.renewed(context.signal);
    // The tool may have changed or disappeared meanwhile.
    return call(wayOf(context));
  }
}
