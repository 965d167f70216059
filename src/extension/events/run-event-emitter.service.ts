import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import { eventTypesOf, RunListenerRegistry } from '../../run/index.js';

/** Tells `@OnEvent` methods what the runs tell: the events' types are the names, a `RunNotice` is the payload. */
@Injectable()
export class RunEventEmitter implements OnApplicationBootstrap {
  constructor(
    private readonly emitter: EventEmitter2,
    private readonly listeners: RunListenerRegistry,
  ) {}

  /** The methods are known: what none of them listens to is not told. */
  onApplicationBootstrap(): void {
    for (const type of eventTypesOf('**')) {
      if (!this.emitter.hasListeners(type)) continue;
      this.listeners.register(`An @OnEvent method`, type, (notice) => this.emitter.emitAsync(type, notice));
    }
  }
}
