import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import { eventTypesOf, RunListenerRegistry } from '../../run/index.js';

/** Publishes run events to `@OnEvent` methods: the event type is the name, a `RunNotice` is the payload. */
@Injectable()
export class RunEventEmitter implements OnApplicationBootstrap {
  constructor(
    private readonly emitter: EventEmitter2,
    private readonly listeners: RunListenerRegistry,
  ) {}

  /** Nest has registered the methods by now; event types without a listener are skipped. */
  onApplicationBootstrap(): void {
    for (const type of eventTypesOf('**')) {
      if (!this.emitter.hasListeners(type)) continue;
      this.listeners.register(`An @OnEvent method`, type, (notice) => this.emitter.emitAsync(type, notice));
    }
  }
}
