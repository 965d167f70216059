import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { Extension, Parameter, type ExtensionHost, type RunNotice } from '../../src/index.js';

/** Notes what the runs of this process do, and lets agents note something themselves. */
@Injectable()
export class AuditExtension extends Extension implements OnApplicationShutdown {
  readonly name = 'audit';
  readonly version = '1.2.0';
  readonly lines: string[] = [];

  override register(agent: ExtensionHost): void {
    agent.registerTool({
      name: 'audit_note',
      description: 'Notes something that people must know of later.',
      parameters: [Parameter.string('text', 'What to note', true)],
      effect: 'idempotent',
      handler: ({ text }: { text: string }, { principal }) => {
        this.lines.push(`${principal.id} noted: ${text}`);
      },
    });
    // Its own way to listen: it needs no further option.
    agent.on('tool.completed', ({ tenant, event }) => {
      this.lines.push(`${tenant}: ${event.tool} took ${event.execution_time_ms} ms`);
    });
  }

  override boot(): void {
    this.lines.push('the audit begins');
  }

  /** With `runEvents: true` Nest's own listeners hear them too, of any provider. */
  @OnEvent('run.*')
  note({ runId, event }: RunNotice<'run.*'>): void {
    this.lines.push(`${runId}: ${event.type}`);
  }

  onApplicationShutdown(): void {
    this.lines.push('the audit ends');
  }
}
