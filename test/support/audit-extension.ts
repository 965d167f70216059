import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { Extension, Parameter, type ExtensionHost, type RunNotice } from '../../src/index.js';

/** Records the events of runs in this process, and lets agents add notes. */
@Injectable()
export class AuditExtension extends Extension implements OnApplicationShutdown {
  readonly name = 'audit';
  readonly version = '1.2.0';
  readonly lines: string[] = [];

  override register(agent: ExtensionHost): void {
    agent.registerTool({
      name: 'audit_note',
      description: 'Records a note for a later audit.',
      parameters: [Parameter.string('text', 'What to note', true)],
      effect: 'idempotent',
      handler: ({ text }: { text: string }, { principal }) => {
        this.lines.push(`${principal.id} noted: ${text}`);
      },
    });
    // Direct subscription: it needs no further option.
    agent.on('tool.completed', ({ tenant, event }) => {
      this.lines.push(`${tenant}: ${event.tool} took ${event.execution_time_ms} ms`);
    });
  }

  override boot(): void {
    this.lines.push('the audit begins');
  }

  /** With `runEvents: true`, `@OnEvent` methods of any provider receive the events too. */
  @OnEvent('run.*')
  note({ runId, event }: RunNotice<'run.*'>): void {
    this.lines.push(`${runId}: ${event.type}`);
  }

  onApplicationShutdown(): void {
    this.lines.push('the audit ends');
  }
}
