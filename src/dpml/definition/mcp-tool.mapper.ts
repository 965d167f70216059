import type { AgentDraft } from './agent-draft.types.js';

interface McpMention {
  readonly name: string;
  readonly enabled?: boolean;
}

/**
 * A draft whose MCP servers have become what they are to an agent: tools by their names. Who mentions a server has the tools that
 * are named, and no others.
 * @param given what the text says of the agent, which is changed
 */
export function toDraft(
  given: Record<string, unknown>,
  base: string | undefined,
  placeOf: AgentDraft['placeOf'],
): AgentDraft {
  const { mcpServers = [], ...input } = given as { mcpServers?: readonly McpMention[]; tools?: '*' | string[] };
  if (mcpServers.length > 0 && input.tools !== '*') {
    const enabled = mcpServers.filter((server) => server.enabled ?? true);
    input.tools = [...(input.tools ?? []), ...enabled.map(({ name }) => `${name}__*`)];
  }
  return {
    name: String(given['name']),
    ...(base !== undefined && { extends: base }),
    input,
    mcpServers: mcpServers.map(({ name }) => name),
    placeOf,
  };
}
