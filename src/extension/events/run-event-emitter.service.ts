import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import { McpServerService } from '../../mcp/index.js';
import { OwnEventRegistry } from './own-event.registry.js';
import { eventTypesOf, RunListenerRegistry } from '../../run/follow/index.js';

/** Name of the event of changed definitions of an MCP server; its payload is an `McpToolsChanged`. */
const TOOLS_CHANGED = 'mcp.tools_changed';

/**
 * Publishes run events to `@OnEvent` methods: the event type is the name, a `RunNotice` is the payload. Publishes
 * changes of MCP tools and own events in the same way.
 */
@Injectable()
export class RunEventEmitter implements OnApplicationBootstrap {
  constructor(
    private readonly emitter: EventEmitter2,
    private readonly listeners: RunListenerRegistry,
    private readonly servers: McpServerService,
    private readonly own: OwnEventRegistry,
  ) {}

  /** Nest has registered the methods by now; event types without a listener are skipped. */
  onApplicationBootstrap(): void {
    this.own.relay(async (event, data) => this.emitter.emitAsync(event, data));
    if (this.emitter.hasListeners(TOOLS_CHANGED)) {
      this.servers.onToolsChanged(async (change) => this.emitter.emitAsync(TOOLS_CHANGED, change));
    }
    for (const type of eventTypesOf('**')) {
      if (!this.emitter.hasListeners(type)) continue;
      this.listeners.register(`An @OnEvent method`, type, (notice) => this.emitter.emitAsync(type, notice));
    }
  }
}
