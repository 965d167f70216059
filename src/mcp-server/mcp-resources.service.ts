import { Injectable } from '@nestjs/common';
import type {
  ListResourcesResult,
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
} from '@modelcontextprotocol/server';
import { AgentService } from '../agent/index.js';
import { AppError } from '../errors/index.js';
import type { Principal } from '../kernel/index.js';
import { McpContent } from '../mcp/index.js';
import { type ListedRun, RunListStore } from '../run/query/index.js';
import { hasScope } from '../security/index.js';
import { AccessLogService } from '../security/access-log/index.js';
import { SessionAdminService, type SessionMessage, type SessionRecord, SessionService } from '../session/index.js';
import { McpRegisteredTools } from './mcp-registered-tools.service.js';
import { isTemplate, type McpResource, McpResources } from './mcp-resource.registry.js';
import {
  parseResourceCursor,
  type ResourceCursor,
  sessionIdIn,
  toResourceCursor,
  toSessionUri,
} from './resource-cursor.parser.js';

const VIEW_TYPE = 'text/html;profile=mcp-app';

/** The views (`ui://…`) of tools that connected MCP servers provide, unchanged, for clients with MCP Apps. */
@Injectable()
export class McpAppResources {
  constructor(
    /** The application's own resources. */
    readonly own: McpResources,
    private readonly tools: McpRegisteredTools,
    private readonly content: McpContent,
  ) {}

  /** The views of the tools that the principal may call. */
  async list(principal: Principal): Promise<Resource[]> {
    return [...(await this.views(principal))].map(([uri, { name }]) => ({ uri, name, mimeType: VIEW_TYPE }));
  }

  /**
   * The contents of a view, in the format of the protocol; `null` if none of these tools has it.
   * @throws McpError `RESOURCE_NOT_FOUND`, `NETWORK_ERROR`
   */
  async read(principal: Principal, uri: string): Promise<readonly object[] | null> {
    const view = (await this.views(principal)).get(uri);
    return view ? this.content.resource(view.server, uri, new AbortController().signal) : null;
  }

  /** By URI; if two servers have the same URI, the view of the first one. */
  private async views(principal: Principal): Promise<Map<string, { readonly name: string; readonly server: string }>> {
    const views = new Map<string, { name: string; server: string }>();
    for (const { definition, metadata } of await this.tools.callable(principal)) {
      const { uri, server } = metadata.app ?? {};
      if (uri !== undefined && server !== undefined && !views.has(uri))
        views.set(uri, { name: definition.name, server });
    }
    return views;
  }
}

const JSON_TYPE = 'application/json';
/** Number of sessions or runs in a page. */
const PAGE = 50;
/** Maximum number of a session's turns in its resource; the last ones. */
const TURNS = 50;

const SESSION_TEMPLATE: ResourceTemplateType = {
  uriTemplate: 'jackdaw://sessions/{id}',
  name: 'session',
  description: `A session of your tenant, with the messages of its last ${TURNS} turns.`,
  mimeType: JSON_TYPE,
};
const RUN_TEMPLATE: ResourceTemplateType = {
  uriTemplate: 'jackdaw://runs/{id}',
  name: 'run',
  description: 'A run so far, of an agent or of a tool call.',
  mimeType: JSON_TYPE,
};

/**
 * Readable resources: the application's own, and the tenant's sessions and runs. Those of other tenants are not found.
 */
@Injectable()
export class McpResourceService {
  constructor(
    private readonly sessions: SessionService,
    private readonly sessionAdmin: SessionAdminService,
    private readonly runs: RunListStore,
    private readonly agents: AgentService,
    private readonly access: AccessLogService,
    private readonly apps: McpAppResources,
  ) {}

  private get own(): McpResources {
    return this.apps.own;
  }

  /**
   * The application's resources, the views of tools, then sessions, then runs; sessions and runs newest first. @throws AppError
   * `VALIDATION_FAILED` for an invalid cursor
   */
  async list(principal: Principal, cursor?: string): Promise<ListResourcesResult> {
    if (cursor !== undefined) return this.page(principal, parseResourceCursor(cursor));
    const own = this.own.list().filter((resource) => !isTemplate(resource));
    const { resources, ...next } = await this.page(principal, { kind: 'sessions' });
    return { resources: [...own.map(toResource), ...(await this.apps.list(principal)), ...resources], ...next };
  }

  templates(principal: Principal): ResourceTemplateType[] {
    const own = this.own.list().filter(isTemplate);
    return [
      ...own.map(({ uri, ...resource }) => ({ ...toResource({ uri, ...resource }), uriTemplate: uri })),
      ...(hasScope(principal, 'sessions:read') ? [SESSION_TEMPLATE] : []),
      ...(hasScope(principal, 'runs:read') ? [RUN_TEMPLATE] : []),
    ];
  }

  /** @throws AppError `NOT_FOUND` if this principal has no resource at the URI */
  async read(principal: Principal, uri: string): Promise<ReadResourceResult> {
    const views = uri.startsWith('ui://') && !this.own.find(uri) ? await this.apps.read(principal, uri) : null;
    if (views) return { contents: views as ReadResourceResult['contents'] };
    const content = await this.content(principal, uri);
    if (!content) throw new AppError('NOT_FOUND', `There is no resource "${uri}".`, { details: { uri } });
    return { contents: [{ uri, ...content }] };
  }

  /** @throws AppError `NOT_FOUND` if this principal may not subscribe to the URI */
  async assertMayFollow(principal: Principal, uri: string): Promise<void> {
    if (!this.own.find(uri)) await this.read(principal, uri);
  }

  private async content(principal: Principal, uri: string) {
    const found = this.own.find(uri);
    if (found) {
      const content = await found.resource.read(found.variables, principal);
      return content && { mimeType: found.resource.mimeType, ...content };
    }
    const sessionId = sessionIdIn(uri);
    const [, runId] = /^jackdaw:\/\/runs\/([\w-]{1,128})$/.exec(uri) ?? [];
    const read = sessionId ? this.session(principal, sessionId) : runId ? this.run(principal, runId) : null;
    const value = await read?.catch(unlessUnknown);
    return value ? { mimeType: JSON_TYPE, text: JSON.stringify(value) } : null;
  }

  private async session(principal: Principal, id: string): Promise<unknown> {
    if (!hasScope(principal, 'sessions:read')) return null;
    const session = await this.sessions.get(principal, id);
    const turns = await this.sessions.turns(principal, id, Math.max(0, session.lastTurn - TURNS), TURNS);
    this.access.record(principal, 'read', 'session.messages', id);
    const messages = turns.flatMap(({ turn, status, runId, messages: stored }) =>
      stored.map((message) => ({ turn, turn_status: status, run_id: runId, ...toView(message) })),
    );
    return { id, owner: session.owner, turn_count: session.lastTurn, metadata: session.metadata, messages };
  }

  private async run(principal: Principal, id: string): Promise<unknown> {
    if (!hasScope(principal, 'runs:read')) return null;
    const answer = await this.agents.shown(principal, id);
    this.access.record(principal, 'read', 'run', id);
    return answer;
  }

  private page(principal: Principal, cursor: ResourceCursor): Promise<ListResourcesResult> {
    return cursor.kind === 'sessions' ? this.sessionPage(principal, cursor) : this.runPage(principal, cursor.after);
  }

  private async sessionPage(
    principal: Principal,
    { after }: Extract<ResourceCursor, { kind: 'sessions' }>,
  ): Promise<ListResourcesResult> {
    if (!hasScope(principal, 'sessions:read')) return this.runPage(principal);
    const listed = await this.sessionAdmin.list(principal, PAGE + 1, after);
    this.access.record(principal, 'read', 'sessions', '');
    const page = listed.slice(0, PAGE);
    const last = page.at(-1);
    const isMore = listed.length > PAGE && last;
    const next: ResourceCursor = isMore
      ? { kind: 'sessions', after: { createdAt: last.createdAt, id: last.id } }
      : { kind: 'runs' };
    if (!isMore && !hasScope(principal, 'runs:read')) return { resources: page.map(sessionResource) };
    return { resources: page.map(sessionResource), nextCursor: toResourceCursor(next) };
  }

  private async runPage(principal: Principal, after?: string): Promise<ListResourcesResult> {
    if (!hasScope(principal, 'runs:read')) return { resources: [] };
    const { runs, next } = await this.runs.list(principal, {}, PAGE, after);
    this.access.record(principal, 'read', 'runs', '');
    const resources = runs.map(runResource);
    return next === null ? { resources } : { resources, nextCursor: toResourceCursor({ kind: 'runs', after: next }) };
  }
}

/** A message with the field names of the REST API. */
function toView(message: SessionMessage): Record<string, unknown> {
  const { role, content } = message;
  switch (message.role) {
    case 'assistant':
      return { role, content, ...(message.toolCalls && { tool_calls: message.toolCalls }) };
    case 'tool':
      return { role, content, tool_call_id: message.toolCallId, name: message.name };
    case 'system':
    case 'user':
      return { role, content };
  }
}

function toResource({ uri, name, description, mimeType }: McpResource): Resource {
  return { uri, name, description, ...(mimeType !== undefined && { mimeType }) };
}

function sessionResource({ id, lastTurn, updatedAt }: SessionRecord): Resource {
  return {
    uri: toSessionUri(id),
    name: id,
    description: `A session with ${lastTurn} turns`,
    mimeType: JSON_TYPE,
    annotations: { lastModified: new Date(updatedAt).toISOString() },
  };
}

function runResource({ id, agent, status, createdAt, finishedAt }: ListedRun): Resource {
  return {
    uri: `jackdaw://runs/${id}`,
    name: id,
    description: `A run of ${agent}, ${status}`,
    mimeType: JSON_TYPE,
    annotations: { lastModified: new Date(finishedAt ?? createdAt).toISOString() },
  };
}

function unlessUnknown(error: unknown): null {
  if (error instanceof AppError && ['SESSION_NOT_FOUND', 'RUN_NOT_FOUND', 'RUN_PRUNED'].includes(error.code))
    return null;
  throw error;
}
