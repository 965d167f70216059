import type { AgentDefinition } from './agent-definition.schema.js';

type Selected = Pick<AgentDefinition, 'tools' | 'mcpServers'>;

/** The same list for the same definition: what a registry makes of it is made once. */
const selections = new WeakMap<Selected['mcpServers'], readonly string[]>();

/** Which tools an agent has of its own, as a `ToolRegistry` takes it: those that it names, with those of its MCP servers. */
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
