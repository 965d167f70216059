import type { ToolContext } from '../../tool/index.js';
import { NotProcessedError } from '../connection/not-processed.error.js';
import type { CallChannel } from './mcp-call.executor.js';

/** Selects the connection of a call. @throws McpError if the tool must no longer be called */
export type ChannelOf = (context: ToolContext) => CallChannel;

/**
 * Makes a call. Repeats it once on a new connection if the server certainly did not process it, for example because it
 * restarted and no longer knows the session.
 */
export async function callBy<T>(
  channelOf: ChannelOf,
  context: ToolContext,
  call: (channel: CallChannel) => Promise<T>,
): Promise<T> {
  const channel = channelOf(context);
  try {
    return await call(channel);
  } catch (error) {
    if (!(error instanceof NotProcessedError)) throw error;
    await channel.connection.renewed(context.signal);
    // The tool may have changed or disappeared meanwhile.
    return call(channelOf(context));
  }
}
