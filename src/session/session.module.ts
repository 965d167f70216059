import { ToolStateModule } from '../tool-state/index.js';
import { Module } from '@nestjs/common';
import { databaseConfig, securityConfig, sessionConfig } from '../config/namespaces/index.js';
import { Database } from '../persistence/index.js';
import { LlmModule } from '../llm/index.js';
import { ConversationStore } from './memory/conversation.store.js';
import { MemoryFactory } from './memory/memory.factory.js';
import { MemoryPolicyRegistry, SessionMemory } from './memory/session-memory.js';
import { OwnMemoryService } from './memory/own-memory.service.js';
import { SummaryExtension } from './memory/summary-extension.js';
import { WholeTurnMemory } from './memory/whole-turn-memory.js';
import { SummaryStore } from './memory/summary.store.js';
import { ProjectedTurnStore, TurnOutbox } from './projection/projected-turn-store.js';
import { chooseTurnArchive, OWN_TURN_ARCHIVE } from './projection/turn-archive.factory.js';
import { TurnArchive } from './projection/turn-archive.js';
import { ExportSignatureService, SessionExchangeService } from './exchange/session-exchange.service.js';
import { ImportedTurnFactory } from './exchange/imported-turn.factory.js';
import { SessionAdminService } from './session-admin.service.js';
import { SessionExpiryService } from './session-expiry.service.js';
import { SessionService } from './session.service.js';
import { RunModule } from '../run/index.js';
import { SessionFiles } from './files/session-files.service.js';
import { SessionStore } from './session-store.js';
import { JournalTurnStore } from './turns/journal-turn-store.js';
import { SessionContent } from './session-content.js';
import { TurnErasureService } from './turn-erasure.service.js';
import { TurnStore } from './turns/turn-store.js';

/** Turns are stored in the journal's database or, if configured, in a separate archive. */
@Module({
  imports: [LlmModule, RunModule, ToolStateModule],
  providers: [
    SessionStore,
    TurnOutbox,
    JournalTurnStore,
    {
      provide: TurnArchive,
      useFactory: chooseTurnArchive,
      inject: [
        { token: OWN_TURN_ARCHIVE, optional: true },
        securityConfig.KEY,
        sessionConfig.KEY,
        databaseConfig.KEY,
        Database,
      ],
    },
    {
      provide: TurnStore,
      useFactory: (archive: TurnArchive | null, changes: TurnOutbox, journal: JournalTurnStore) =>
        archive ? new ProjectedTurnStore(changes, archive) : journal,
      inject: [TurnArchive, TurnOutbox, JournalTurnStore],
    },
    SessionService,
    SummaryStore,
    MemoryPolicyRegistry,
    SummaryExtension,
    OwnMemoryService,
    SessionMemory,
    WholeTurnMemory,
    SessionFiles,
    SessionContent,
    SessionAdminService,
    SessionExpiryService,
    ExportSignatureService,
    ImportedTurnFactory,
    SessionExchangeService,
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
export class SessionModule {}
