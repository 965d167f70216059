/** Conversations: turns that enter whole, once, and the window of them that a run may see; and what is kept in mind beyond. */
import { FactEntity } from './entities/fact.entity.js';
import { SessionTurnEntity } from './entities/session-turn.entity.js';
import { SessionEntity } from './entities/session.entity.js';
import { CreateSession1764000000001 } from './migrations/1764000000001-create-session.migration.js';
import { CreateFact1764000000005 } from './migrations/1764000000005-create-fact.migration.js';

export { FactMemory } from './long-term/fact-memory.js';
export type {
  Fact,
  FactOwner,
  FactPage,
  RecalledFact,
  RecallOptions,
  RememberOptions,
} from './long-term/fact.types.js';
export { LongTermMemoryModule } from './long-term/long-term-memory.module.js';
export { SESSION_ID_PATTERN, SessionService } from './session.service.js';
export { SessionModule } from './session.module.js';
export type { SessionRecord, SessionWindow, StoredTurn, Turn, TurnStatus } from './session.types.js';

export const SESSION_ENTITIES = [SessionEntity, SessionTurnEntity, FactEntity];
export const SESSION_MIGRATIONS = [CreateSession1764000000001, CreateFact1764000000005];
