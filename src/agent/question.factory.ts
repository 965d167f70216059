import type { UserMessage } from '../llm/index.js';
import type { AgentRunInput } from './agent.types.js';

/** What the user says: pictures first, as models read them best so (platform.claude.com, "Vision"), then the question. */
export function toQuestion({ query, images = [] }: Pick<AgentRunInput, 'query' | 'images'>): UserMessage {
  if (images.length === 0) return { role: 'user', content: query };
  const pictures = images.map(({ url }) => ({ type: 'image' as const, url }));
  return { role: 'user', content: [...pictures, { type: 'text', text: query }] };
}
