import type { ToolContext } from '../../tool/index.js';
import { NotTakenError } from '../connection/not-taken.error.js';
import type { CallWay } from './mcp-call.executor.js';

/** By what a call is made. @throws McpError when the tool is no longer to be called */
export type WayOf = (context: ToolContext) => CallWay;

/**
 * Makes a call; and makes it again, once, on a fresh connection, when the server has surely not taken it, as one that was
 * started again and knows our session no more.
 */
export async function callBy<T>(wayOf: WayOf, context: ToolContext, call: (way: CallWay) => Promise<T>): Promise<T> {
  const way = wayOf(context);
  try {
    return await call(way);
  } catch (error) {
    if (!(error instanceof NotTakenError)) throw error;
    await way.connection.renewed(context.signal);
    // By now it may have another tool of the name, or none.
    return call(wayOf(context));
  }
}
