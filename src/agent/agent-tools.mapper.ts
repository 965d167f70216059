import type { AgentDefinition } from './agent-definition.schema.js';

type Selected = Pick<AgentDefinition, 'tools' | 'mcpServers'>;

/** Returns the same array for the same definition, so that the registry can cache by identity. */
const selections = new WeakMap<Selected['mcpServers'], readonly string[]>();

/** Tool selection of an agent, as `ToolRegistry` accepts it: the listed names, then the patterns of its MCP servers. */
export function selectionOf({ tools, mcpServers }: Selected): readonly string[] | '*' {
  if (mcpServers.length === 0) return tools;
  let selection = selections.get(mcpServers);
  if (!selection) {
    const named = tools === '*' ? [tools] : tools;
    selection = [...named, ...mcpServers.map(({ name, enabled }) => `${enabled ? '' : '!'}${name}__*`)];
    selections.set(mcpServers, selection);
  }
  return selection;
}
