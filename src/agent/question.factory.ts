import type { UserMessage } from '../llm/index.js';
import type { AgentRunInput } from './agent.types.js';

/** The user message: images first, which models read best (platform.claude.com, "Vision"), then the text. */
export function toQuestion({ query, images = [] }: Pick<AgentRunInput, 'query' | 'images'>): UserMessage {
  if (images.length === 0) return { role: 'user', content: query };
  const pictures = images.map(({ url }) => ({ type: 'image' as const, url }));
  return { role: 'user', content: [...pictures, { type: 'text', text: query }] };
}
