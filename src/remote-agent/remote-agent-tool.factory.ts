import type { JsonSchema } from '../kernel/json/index.js';
import { createToolNow, inputOf } from '../tool/index.js';
import type { Tool } from '../tool/method/index.js';
import type { RemoteAgent } from './remote-agent.types.js';
import { RemoteCalls, type RemoteWorld } from './remote-call.executor.js';

const INPUT: JsonSchema = {
  type: 'object',
  properties: {
    message: { type: 'string', minLength: 1, description: 'The task for the agent, with all it must know.' },
  },
  required: ['message'],
};

/** A tool with its calls. */
export interface RemoteAgentTool {
  readonly tool: Tool;
  readonly calls: RemoteCalls;
}

/**
 * The tool that asks a remote agent. It counts as a tool of an HTTP MCP server: its results are untrusted, and its calls
 * carry data out.
 * @throws AppError `TOOL_INVALID`
 */
export function createRemoteAgentTool(agent: RemoteAgent, world: RemoteWorld): RemoteAgentTool {
  const { name, description, source, timeoutMs, effect, approval, egress = true, concurrency } = agent;
  const calls = new RemoteCalls(agent, world);
  const tool = createToolNow(
    {
      name,
      description,
      source,
      timeoutMs,
      egress,
      untrusted: agent.untrusted ?? true,
      private: agent.private ?? Object.keys(agent.headers).length > 0,
      ...(effect && { effect }),
      ...(approval && { approval }),
      ...(concurrency !== undefined && { concurrency }),
      reconcile: (_key, context) => calls.reconcile(context),
    },
    () => inputOf(INPUT, 'exact'),
    (input, context) => calls.make((input as { readonly message: string }).message, context),
  );
  const origin = { name: `remote agent "${name}"`, hosts: [agent.cardUrl.hostname], isReadOnly: false };
  return { calls, tool: { ...tool, metadata: { ...tool.metadata, origin, isReturnForeign: true } } };
}
