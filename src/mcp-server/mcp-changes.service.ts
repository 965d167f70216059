import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { AgentRegistry } from '../agent/index.js';
import { AppError } from '../errors/index.js';
import { isId } from '../kernel/index.js';
import { RunListenerRegistry } from '../run/index.js';
import type { SessionPlace } from '../session/index.js';
import { ToolRegistry } from '../tool/index.js';
import { McpPrompts } from './mcp-prompt.registry.js';
import { McpResources } from './mcp-resource.registry.js';

/** Start of a page of resources: all sessions come before all runs. */
export type ResourceCursor =
  { readonly kind: 'sessions'; readonly after?: SessionPlace } | { readonly kind: 'runs'; readonly after?: string };

/** URI of a session: its template's expansion, in which an id is percent-encoded. */
export function toSessionUri(id: string): string {
  return `jackdaw://sessions/${encodeURIComponent(id)}`;
}

/** The id in the URI of a session; undefined for other URIs, and for another spelling of one. */
export function sessionIdIn(uri: string): string | undefined {
  const [, encoded = ''] = /^jackdaw:\/\/sessions\/([^/?#]+)$/.exec(uri) ?? [];
  try {
    const id = decodeURIComponent(encoded);
    return isId(id) && toSessionUri(id) === uri ? id : undefined;
  } catch {
    return undefined;
  }
}

export function toResourceCursor(cursor: ResourceCursor): string {
  if (cursor.kind === 'runs') return `r.${cursor.after ?? ''}`;
  return cursor.after ? `s.${cursor.after.createdAt}.${cursor.after.id}` : 's.';
}

/** @throws AppError `VALIDATION_FAILED` for an invalid cursor */
export function parseResourceCursor(text: string): ResourceCursor {
  const [, kind, at, id] = /^([sr])\.(?:(\d{1,15})\.([\p{L}\p{M}\p{Nd}_.:@-]{1,128}))?$/u.exec(text) ?? [];
  if (kind === 'r') return at === undefined ? { kind: 'runs' } : { kind: 'runs', after: `${at}.${id}` };
  if (kind === 's' && id !== undefined) return { kind: 'sessions', after: { createdAt: Number(at), id } };
  throw new AppError('VALIDATION_FAILED', 'cursor must be the "nextCursor" of a page');
}

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
