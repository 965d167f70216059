import { Module } from '@nestjs/common';
import { SealedTableRegistry } from '../security/index.js';
import { SessionService } from './session.service.js';
import { SESSION_SEALED_TABLES } from './turn-place.factory.js';
import { SessionStore } from './session-store.js';

@Module({ providers: [SessionStore, SessionService], exports: [SessionService] })
export class SessionModule {
  constructor(tables: SealedTableRegistry) {
    tables.register(SESSION_SEALED_TABLES);
  }
}
