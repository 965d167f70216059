/** Conversations: turns that enter whole, once, and the window of them that a run may see. */
import { SessionTurnEntity } from './entities/session-turn.entity.js';
import { SessionEntity } from './entities/session.entity.js';
import { CreateSession1764000000001 } from './migrations/1764000000001-create-session.migration.js';

export { SESSION_ID_PATTERN, SessionService } from './session.service.js';
export { SessionModule } from './session.module.js';
export type { SessionRecord, SessionWindow, StoredTurn, Turn, TurnStatus } from './session.types.js';

export const SESSION_ENTITIES = [SessionEntity, SessionTurnEntity];
export const SESSION_MIGRATIONS = [CreateSession1764000000001];
