import type { RunItem } from '../run/event/index.js';
import type { McpCall } from './mcp-call.types.js';

/** Reports a tool's own progress to the client. */
export function toolProgress(call: Pick<McpCall, 'progress'>): (item: RunItem) => void {
  return ({ event }) => {
    if (event.type === 'tool.progress') call.progress(event.progress, event.total, event.message);
  };
}

/** Reports an agent's actions to the client as a count without a total, because the total is unknown. */
export function agentProgress(call: Pick<McpCall, 'progress'>): (item: RunItem) => void {
  let count = 0;
  return (item) => {
    const message = messageOf(item);
    if (message !== undefined) call.progress(++count, undefined, message);
  };
}

function messageOf({ event }: RunItem): string | undefined {
  switch (event.type) {
    case 'run.started':
      return `${event.agent} starts`;
    case 'tool.started':
      return `calls ${event.tool}`;
    case 'tool.progress':
      return event.message === undefined ? undefined : `${event.tool}: ${event.message}`;
    case 'tool.completed':
      return `${event.tool} ${event.success ? 'is completed' : 'failed'}`;
    case 'message.completed':
      return event.tool_calls.length > 0 ? undefined : 'has the answer';
    case 'node.started':
      return `starts ${event.node}`;
    case 'run.waiting':
      return 'waits';
    case 'run.resumed':
    case 'run.completed':
    case 'run.failed':
    case 'run.cancelled':
    case 'policy.decided':
    case 'thought':
    case 'state.changed':
    case 'node.completed':
    case 'usage':
    case 'model.switched':
    case 'model.cached':
    case 'context.compacted':
    case 'history.repaired':
    case 'step.started':
    case 'step.restarted':
    case 'message.delta':
    case 'stream.closed':
      return undefined;
  }
}
