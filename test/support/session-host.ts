import { loadConfig } from '../../src/config/index.js';
import { TokenCounterRegistry } from '../../src/llm/index.js';
import { VocabularyLoader } from '../../src/llm/tokens/vocabulary.loader.js';
import type { Database } from '../../src/persistence/index.js';
import { RunFileStore } from '../../src/run/files/index.js';
import { PLAIN_CIPHER, type Cipher } from '../../src/security/encryption/index.js';
import { SessionService } from '../../src/session/index.js';
import {
  MemoryFactory,
  MemoryPolicyRegistry,
  SessionMemory,
  WholeTurnMemory,
  type MemoryRules,
} from '../../src/session/memory/index.js';
import { SessionFiles } from '../../src/session/files/session-files.service.js';
import { ConversationStore } from '../../src/session/memory/conversation.store.js';
import { OwnMemoryService } from '../../src/session/memory/own-memory.service.js';
import { SummaryExtension } from '../../src/session/memory/summary-extension.js';
import { SummaryStore } from '../../src/session/memory/summary.store.js';
import { SessionStore } from '../../src/session/session-store.js';
import { JournalTurnStore } from '../../src/session/turns/journal-turn-store.js';
import type { TurnStore } from '../../src/session/turns/turn-store.js';
import { BY_PRINCIPAL } from './run-parts.js';

/** Sessions over a database, as the application wires them. */
export function sessionsOn(database: Database, cipher: Cipher = PLAIN_CIPHER) {
  const turns: TurnStore = new JournalTurnStore(database, cipher);
  const store = new SessionStore(database, cipher, BY_PRINCIPAL);
  const summaries = new SummaryStore(database, cipher);
  const extension = new SummaryExtension(turns);
  const policies = new MemoryPolicyRegistry();
  const { config } = loadConfig({ env: {} });
  const files = new SessionFiles(new RunFileStore(database, cipher), config.agent);
  const counters = new TokenCounterRegistry(config.llm, new VocabularyLoader());
  return {
    sessions: new SessionService(store, turns, summaries, files),
    memory: new SessionMemory(store, turns, summaries, extension, policies, new OwnMemoryService(store, turns)),
    wholeTurns: new WholeTurnMemory(store, turns, summaries, extension, policies),
    memories: new MemoryFactory(new ConversationStore(database, store, turns), policies, counters, config.agent),
    turns,
  };
}

export const RULES: MemoryRules = {
  enabled: true,
  policy: 'sliding_window',
  maxMessages: 1000,
  maxContextTokens: 1_000_000,
  includeToolCalls: true,
  keepFirst: 10,
};

/** For policies without summaries. */
export function neverSummarise(): Promise<never> {
  return Promise.reject(new Error('nothing was to be summed up'));
}
