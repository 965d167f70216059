import { Module } from '@nestjs/common';
import { SessionService } from './session.service.js';
import { SessionStore } from './session-store.js';

@Module({ providers: [SessionStore, SessionService], exports: [SessionService] })
export class SessionModule {}
