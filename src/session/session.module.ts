import { ToolStateModule } from '../tool/index.js';
import { Module } from '@nestjs/common';
import { AppConfig } from '../config/index.js';
import { Database } from '../persistence/index.js';
import { LlmModule } from '../llm/index.js';
import { SealedTableRegistry } from '../security/index.js';
import { ConversationStore } from './memory/conversation.store.js';
import { MemoryFactory } from './memory/memory.factory.js';
import { MemoryPolicyRegistry } from './memory/memory-policy.registry.js';
import { SessionMemory } from './memory/session-memory.service.js';
import { SummaryExtension } from './memory/summary-extension.service.js';
import { WholeTurnMemory } from './memory/whole-turn-memory.service.js';
import { SummaryStore } from './memory/summary.store.js';
import { ProjectedTurnStore } from './projection/projected-turn-store.js';
import { TurnChangeStore } from './projection/turn-change.store.js';
import { SessionProjectionService } from './projection/session-projection.service.js';
import { openTurnArchive } from './projection/turn-archive.factory.js';
import { TurnArchive } from './projection/turn-archive.js';
import { SessionAdminService } from './session-admin.service.js';
import { SessionService } from './session.service.js';
import { SESSION_SEALED_TABLES } from './turn-place.factory.js';
import { SessionStore } from './session-store.js';
import { JournalTurnStore } from './turns/journal-turn-store.js';
import { SessionContent } from './session-content.service.js';
import { TurnErasureService } from './turn-erasure.service.js';
import { TurnStore } from './turns/turn-store.js';

/** Turns are stored in the journal's database or, if configured, in a separate archive. */
@Module({
  imports: [LlmModule, ToolStateModule],
  providers: [
    SessionStore,
    TurnChangeStore,
    JournalTurnStore,
    { provide: TurnArchive, useFactory: openTurnArchive, inject: [AppConfig, Database] },
    {
      provide: TurnStore,
      useFactory: (archive: TurnArchive | null, changes: TurnChangeStore, journal: JournalTurnStore) =>
        archive ? new ProjectedTurnStore(changes, archive) : journal,
      inject: [TurnArchive, TurnChangeStore, JournalTurnStore],
    },
    {
      provide: SessionProjectionService,
      useFactory: (archive: TurnArchive | null, turns: TurnStore) =>
        archive && turns instanceof ProjectedTurnStore ? new SessionProjectionService(turns, archive) : null,
      inject: [TurnArchive, TurnStore],
    },
    SessionService,
    SummaryStore,
    MemoryPolicyRegistry,
    SummaryExtension,
    SessionMemory,
    WholeTurnMemory,
    SessionContent,
    SessionAdminService,
    TurnErasureService,
    ConversationStore,
    MemoryFactory,
  ],
  exports: [
    SessionService,
    SessionAdminService,
    SessionMemory,
    WholeTurnMemory,
    MemoryPolicyRegistry,
    MemoryFactory,
    TurnErasureService,
  ],
})
export class SessionModule {
  constructor(tables: SealedTableRegistry) {
    tables.register(SESSION_SEALED_TABLES);
  }
}
