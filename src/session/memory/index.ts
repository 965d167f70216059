/** Memories of a conversation: the part of its turns that a run sees, and the policies that select it. */
export {
  Memory,
  OWN_MEMORIES,
  type MemoryConversation,
  type OwnMemories,
  type OwnMemory,
  type RunMemory,
} from './memory.js';
export { MemoryFactory } from './memory.factory.js';
export { MemoryPolicy } from './memory-policy.js';
export type { TurnGroup } from './memory-policy.js';
export { MemoryPolicyRegistry, SessionMemory } from './session-memory.js';
export type { MemoryPlace, MemoryRules, Recollection, Summarise, Summary, TurnSize } from './memory.types.js';
export { countTurn } from './turn-memory.js';
export { factsOfPlace, referenceState } from './recollection.mapper.js';
export { WholeTurnMemory } from './whole-turn-memory.js';
