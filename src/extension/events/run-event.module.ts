import { Module } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { RunModule } from '../../run/index.js';
import { ExtensionModule } from '../extension.module.js';
import { RunEventEmitter } from './run-event-emitter.service.js';

/**
 * Run events, and own events of agents, for `@OnEvent` methods of any provider. It has an emitter of its own, with wildcards and unlimited
 * listeners, so that the application's own emitter settings do not matter.
 */
@Module({
  imports: [EventEmitterModule.forRoot({ wildcard: true, maxListeners: 0, global: false }), ExtensionModule, RunModule],
  providers: [RunEventEmitter],
})
export class RunEventModule {}
