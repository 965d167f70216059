import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { AgentRegistry } from '../agent/index.js';
import { RunListenerRegistry } from '../run/index.js';
import { ToolRegistry } from '../tool/index.js';
import { McpPrompts } from './mcp-prompt.registry.js';
import { McpResources } from './mcp-resource.registry.js';

/** What clients can be told of. */
export type McpChange =
  | { readonly kind: 'tools' | 'prompts' | 'resources' }
  /** What is at an address is not what it was; `tenant` is whose it is, where it is somebody's. */
  | { readonly kind: 'resource'; readonly uri: string; readonly tenant?: string };

/** Knows when what clients were shown is no longer so; several changes at once are told as one. */
@Injectable()
export class McpChanges implements OnApplicationShutdown {
  private readonly ends: (() => void)[] = [];
  private readonly due = new Map<string, McpChange>();
  private tell: ((change: McpChange) => void) | undefined;
  private followsRuns = false;

  constructor(
    private readonly tools: ToolRegistry,
    private readonly agents: AgentRegistry,
    private readonly prompts: McpPrompts,
    private readonly resources: McpResources,
    private readonly runs: RunListenerRegistry,
  ) {}

  /** Called once, when there is somebody to tell. */
  follow(tell: (change: McpChange) => void): void {
    this.tell = tell;
    this.ends.push(
      this.tools.changes.add(() => this.note({ kind: 'tools' })),
      this.agents.changes.add(() => (this.note({ kind: 'tools' }), this.note({ kind: 'prompts' }))),
      this.prompts.changes.add(() => this.note({ kind: 'prompts' })),
      this.resources.changes.add(() => this.note({ kind: 'resources' })),
      this.resources.onUpdate((uri) => this.note({ kind: 'resource', uri })),
    );
  }

  /** From now on also runs and their sessions; which costs a little with each run, so that somebody must want it. */
  followRuns(): void {
    if (this.followsRuns) return;
    this.followsRuns = true;
    const end = this.runs.register('The MCP server', 'run.*', ({ runId, sessionId, tenant }) => {
      this.note({ kind: 'resource', uri: `jackdaw://runs/${runId}`, tenant });
      if (sessionId !== null) this.note({ kind: 'resource', uri: `jackdaw://sessions/${sessionId}`, tenant });
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
    for (const change of changes) this.tell?.(change);
  }
}
