import { toSessionUri } from './resource-cursor.parser.js';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { AgentRegistry } from '../agent/definition/index.js';
import { RunListenerRegistry } from '../run/follow/index.js';
import { ToolRegistry } from '../tool/index.js';
import { McpPrompts } from './mcp-prompt.registry.js';
import { McpResources } from './mcp-resource.registry.js';

/** Changes that clients can be notified of. */
export type McpChange =
  | { readonly kind: 'tools' | 'prompts' | 'resources' }
  /** The resource at a URI has changed; `tenant` is its owner, if it has one. */
  | { readonly kind: 'resource'; readonly uri: string; readonly tenant?: string };

/** Detects changes of published lists and resources. Changes in one turn of the event loop are deduplicated. */
@Injectable()
export class McpChanges implements OnApplicationShutdown {
  private readonly ends: (() => void)[] = [];
  private readonly due = new Map<string, McpChange>();
  private publish: ((change: McpChange) => void) | undefined;
  private followsRuns = false;

  constructor(
    private readonly tools: ToolRegistry,
    private readonly agents: AgentRegistry,
    private readonly prompts: McpPrompts,
    private readonly resources: McpResources,
    private readonly runs: RunListenerRegistry,
  ) {}

  /** Called once, by the first handler. */
  follow(publish: (change: McpChange) => void): void {
    this.publish = publish;
    this.ends.push(
      this.tools.changes.add(() => this.note({ kind: 'tools' })),
      this.agents.changes.add(() => (this.note({ kind: 'tools' }), this.note({ kind: 'prompts' }))),
      this.prompts.changes.add(() => this.note({ kind: 'prompts' })),
      this.resources.changes.add(() => this.note({ kind: 'resources' })),
      this.resources.onUpdate((uri) => this.note({ kind: 'resource', uri })),
    );
  }

  /**
   * Also reports changes of runs and their sessions from now on. It costs a little per run, so it starts at the first
   * subscription.
   */
  followRuns(): void {
    if (this.followsRuns) return;
    this.followsRuns = true;
    const end = this.runs.register('The MCP server', 'run.*', ({ runId, sessionId, tenant }) => {
      this.note({ kind: 'resource', uri: `jackdaw://runs/${runId}`, tenant });
      if (sessionId !== null) this.note({ kind: 'resource', uri: toSessionUri(sessionId), tenant });
    });
    this.ends.push(end);
  }

  onApplicationShutdown(): void {
    for (const end of this.ends) end();
  }

  private note(change: McpChange): void {
    if (this.due.size === 0) setImmediate(() => this.flush());
    this.due.set(change.kind === 'resource' ? change.uri : change.kind, change);
  }

  private flush(): void {
    const changes = [...this.due.values()];
    this.due.clear();
    for (const change of changes) this.publish?.(change);
  }
}
