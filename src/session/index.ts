/** Sessions: conversations of complete turns, the part of them that a run sees, and users' long-term memory. */
import { FactEntity } from './entities/fact.entity.js';
import { FACT_SEALED_TABLES } from './fact-memory/fact-place.factory.js';
import { CreateSession1764000000001 } from './migrations/1764000000001-create-session.migration.js';
import { CreateFact1764000000005 } from './migrations/1764000000005-create-fact.migration.js';
import { EncryptFact1764000000022 } from './migrations/1764000000022-encrypt-fact.migration.js';
import { CountClearedTurns1764000000024 } from './migrations/1764000000024-count-cleared-turns.migration.js';
import { ExtendSession1764000000006 } from './migrations/1764000000006-extend-session.migration.js';
import { CreateSessionChange1764000000007 } from './migrations/1764000000007-create-session-change.migration.js';
import { LinkSubSessions1764000000014 } from './migrations/1764000000014-link-sub-sessions.migration.js';
import { ListOwnSessions1764000000018 } from './migrations/1764000000018-list-own-sessions.migration.js';
import { CountTurnChanges1764000000017 } from './migrations/1764000000017-count-turn-changes.migration.js';
import { RecordDataFacts1764000000019 } from './migrations/1764000000019-record-data-facts.migration.js';
import { MarkTaintedSession1764000000011 } from './migrations/1764000000011-mark-tainted-session.migration.js';
import { CONVERSATION_SEALED_TABLES } from './turn-place.factory.js';

export { OWN_TURN_ARCHIVE } from './projection/turn-archive.factory.js';
export { LocalTurnArchive, TurnArchive } from './projection/turn-archive.js';
export type { TurnChange, TurnSpan } from './projection/turn-archive.js';
export {
  FactMemory,
  type Fact,
  type FactOwner,
  type FactPage,
  type RecalledFact,
  type RecallOptions,
  type RememberOptions,
} from './fact-memory/fact-memory.js';
export { LongTermMemoryModule } from './fact-memory/long-term-memory.module.js';
export type { SessionExport } from './session-export.schema.js';
export type { PrunedSessions, SessionOptions } from './session-admin.service.js';
export { SessionAdminService } from './session-admin.service.js';
export type { SessionPlace } from './session-store.js';
export { assertSessionId } from './turn-place.factory.js';
export { SessionService } from './session.service.js';
export { SessionModule } from './session.module.js';
export { TurnErasureService } from './turn-erasure.service.js';
export { PINNED } from './session.types.js';
export type { SessionKey, SessionMessage, SessionRecord, StoredTurn, Turn, TurnStatus } from './session.types.js';

export const SESSION_ENTITIES = [FactEntity];
export const SESSION_SEALED_TABLES = [...CONVERSATION_SEALED_TABLES, ...FACT_SEALED_TABLES];
export const SESSION_MIGRATIONS = [
  CreateSession1764000000001,
  CreateFact1764000000005,
  ExtendSession1764000000006,
  CreateSessionChange1764000000007,
  MarkTaintedSession1764000000011,
  LinkSubSessions1764000000014,
  CountTurnChanges1764000000017,
  ListOwnSessions1764000000018,
  RecordDataFacts1764000000019,
  EncryptFact1764000000022,
  CountClearedTurns1764000000024,
];
export type { TurnQuery } from './turns/turn-store.js';
export type { SessionImport } from './exchange/session-exchange.service.js';
