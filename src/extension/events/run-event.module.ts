import { Module } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { RunModule } from '../../run/index.js';
import { RunEventEmitter } from './run-event-emitter.service.js';

/**
 * Run events for `@OnEvent` methods of any provider. The emitter is its own, with wildcards and any number of listeners,
 * so that it does not matter how an application has set up its own.
 */
@Module({
  imports: [EventEmitterModule.forRoot({ wildcard: true, maxListeners: 0, global: false }), RunModule],
  providers: [RunEventEmitter],
})
export class RunEventModule {}
