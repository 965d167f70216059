import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { Cache, MemoryCache } from '../cache/index.js';
import { ConfiguredSecrets } from '../config/index.js';
import { AppError } from '../errors/index.js';
import { ChangeListeners, untilAborted } from '../kernel/index.js';
import { nearNames } from '../kernel/text/index.js';
import { callDirectly } from './call/direct-call.executor.js';
import { createCallSite } from './call/tool-request.factory.js';
import { anyPattern, namePattern } from './name-pattern.parser.js';
import { createRegisteredTool } from './registered-tool.factory.js';
import { NO_STATEFUL_CALLS, StatefulCalls } from './stateful/stateful-calls.js';
import { assertAccepted, duplicateOf } from './tool-refusal.policy.js';
import type { ContextHolder, ToolRegistration } from './tool-registration.types.js';
import type { CallSite, Tool } from './tool.types.js';
import { wrapTool } from './wrappers/retrying-tool.wrapper.js';

/** Limits of the default cache of results: time to live (ms) and size (bytes). */
const OWN_CACHE_TTL_MS = 3_600_000;
const OWN_CACHE_BYTES = 16 * 1024 * 1024;

/** Tools that a source registers later. */
export interface ToolAnnouncement {
  /** Name of the source. */
  readonly source: string;
  /** Whether runs that select its tools must not start without them. */
  readonly isRequired: boolean;
  /** Whether its tools have never arrived. */
  readonly isMissing: () => boolean;
  /** Why they are missing, for people. */
  readonly reason: () => string;
  /** The error of a request for a tool of the source that waits for a person. @param name of the tool */
  readonly heldError?: (name: string) => AppError | undefined;
  /**
   * The awaited arrival, if any. Both promises settle with it, or when the tools are delayed: `first` for a run that
   * names the source, the earlier `soon` for a run that selects all tools.
   */
  readonly arriving: () => { readonly first: Promise<void>; readonly soon: Promise<void> } | null;
}

/** Owns all tools by name. Only registries that users create, for `enhance`, use the constructor's defaults. */
@Injectable()
export class ToolRegistry implements OnApplicationShutdown {
  private readonly tools = new Map<string, Tool>();
  private readonly cache: Cache;
  /** Holders of the instances of tools, by tool name. */
  private readonly holders = new Map<string, ContextHolder>();
  private stateful = NO_STATEFUL_CALLS;
  /** Announced tools, by name prefix. */
  private readonly announced = new Map<string, ToolAnnouncement>();
  /** Selections since the last change: a stable array lets callers cache values derived from it. */
  private selected = new Map<readonly string[] | '*', readonly Tool[]>();
  private exploreModule: ((moduleRef: ModuleRef) => Promise<readonly string[]>) | null = null;
  /** Listeners for registered, unregistered and switched tools. */
  readonly changes = new ChangeListeners();

  /**
   * @param states states of the registered stateful tools; by default calls of such tools fail
   * @param secrets masked in errors; by default none
   */
  constructor(
    @Inject(Cache) cache: Cache | null = null,
    states: StatefulCalls = NO_STATEFUL_CALLS,
    private readonly secrets: ConfiguredSecrets = new ConfiguredSecrets([]),
  ) {
    this.cache = cache ?? new MemoryCache(OWN_CACHE_TTL_MS, OWN_CACHE_BYTES);
    this.useStates(states);
  }

  /** The states of its stateful tools. A registry outside of an application gets those created here, once. */
  statesOr(create: () => StatefulCalls): StatefulCalls {
    if (this.stateful === NO_STATEFUL_CALLS) this.useStates(create());
    return this.stateful;
  }

  /**
   * Registers a tool, or a registration, whose schema is compiled immediately.
   * @throws AppError `TOOL_DUPLICATE` naming both places; `TOOL_INVALID` for a declaration that no model can call
   */
  register(added: Tool | ToolRegistration): void {
    this.registerAll([added]);
  }

  /** Registers several tools: all or none. */
  registerAll(added: readonly (Tool | ToolRegistration)[]): void {
    const coming = new Map<string, Tool>();
    for (const one of added) {
      const tool = 'definition' in one ? one : createRegisteredTool(one);
      const { name } = tool.definition;
      assertAccepted(tool, this.stateful.ownManagers);
      const other = this.tools.get(name) ?? coming.get(name);
      if (other) throw duplicateOf(name, other.metadata, tool.metadata);
      coming.set(name, this.wrapped(tool));
    }
    for (const [name, tool] of coming) this.tools.set(name, tool);
    for (const one of added) if ('holder' in one && one.holder) this.holders.set(one.name, one.holder);
    this.selected = new Map();
    this.changes.notify();
  }

  /**
   * Registers the tools of a lazily loaded module and of its imported modules: all or none. A repeated call registers
   * only the tools that were unregistered since.
   * @param moduleRef the result of `LazyModuleLoader.load()`
   * @returns the names of the module's tools
   * @throws AppError `TOOL_DUPLICATE` naming both modules; `TOOL_INVALID` with all mistakes, or for an invalid
   * `ModuleRef`
   */
  async registerModule(moduleRef: ModuleRef): Promise<readonly string[]> {
    if (this.exploreModule) return this.exploreModule(moduleRef);
    throw new AppError('TOOL_INVALID', 'registerModule(): this registry belongs to no Nest application.');
  }

  /** @param explore registers the tools of a module; set by the explorer of the application's modules */
  useModules(explore: (moduleRef: ModuleRef) => Promise<readonly string[]>): void {
    this.exploreModule = explore;
  }

  /** Wraps an unregistered tool according to its metadata: concurrency limit, retries, cache. */
  wrapped(tool: Tool): Tool {
    return wrapTool(tool, this.cache, this.secrets.values);
  }

  /** Returns whether the tool existed. Runs that already hold the tool can still call it. */
  unregister(name: string): boolean {
    this.selected = new Map();
    void this.dropHolder(name);
    const wasThere = this.tools.delete(name);
    if (wasThere) this.changes.notify();
    return wasThere;
  }

  /**
   * Announces that tools with this name prefix may be registered and unregistered. Their names are then valid in
   * selections before the tools exist. Replaces an earlier announcement of the prefix.
   * @returns a function that withdraws the announcement
   */
  announce(prefix: string, announcement: ToolAnnouncement): () => void {
    this.announced.set(prefix, announcement);
    return () => void this.announced.delete(prefix);
  }

  /** Waits for announced tools that match the patterns and have not arrived yet; never throws. */
  async arrived(patterns: readonly unknown[] | '*', signal: AbortSignal): Promise<void> {
    const coming = this.selectedSources(patterns).flatMap(({ announcement: { arriving }, isNamed }) => {
      const arrival = isNamed ? arriving()?.first : arriving()?.soon;
      return arrival ? [arrival] : [];
    });
    if (coming.length > 0) await untilAborted(Promise.all(coming), signal).catch(() => undefined);
  }

  /** The sources of announced tools that match the patterns, and have not arrived. */
  missing(patterns: readonly unknown[] | '*'): readonly ToolAnnouncement[] {
    return this.selectedSources(patterns).flatMap(({ announcement }) =>
      announcement.isMissing() ? [announcement] : [],
    );
  }

  private selectedSources(patterns: readonly unknown[] | '*') {
    if (this.announced.size === 0) return [];
    const { wanted, unwanted } = readSelection(patterns);
    const heads = wanted.map((pattern) => pattern.split('*', 1)[0]!);
    return [...this.announced].flatMap(([prefix, announcement]) => {
      const matching = heads.filter((head) => head.startsWith(prefix) || prefix.startsWith(head));
      if (matching.length === 0 || unwanted.includes(`${prefix}*`)) return [];
      return [{ announcement, isNamed: matching.some((head) => head !== '') }];
    });
  }

  has(name: string): boolean {
    return this.tools.has(name);
  }

  /** @throws AppError `TOOL_NOT_FOUND` with similar names; `TOOL_HELD` for a tool that waits for a person */
  get(name: string): Tool {
    const tool = this.tools.get(name);
    if (!tool) throw this.heldError(name) ?? this.notFound(name);
    return tool;
  }

  /**
   * Validates the arguments (a JSON object) and calls the tool outside of a run; returns the result unchanged. The
   * caller is responsible for the call: approval, policies and switches do not apply (use `DirectCallService` for a
   * person's call). @param site missing fields get defaults
   * @throws AppError `TOOL_NOT_FOUND`, `TOOL_INVALID_ARGUMENTS`, `TOOL_FAILED` with its cause, `TOOL_TIMEOUT`, or
   * `TOOL_CANCELLED` if the signal of `site` is aborted
   */
  async call(
    name: string,
    args: Readonly<Record<string, unknown>> = {},
    site: Partial<CallSite> = {},
  ): Promise<unknown> {
    return callDirectly(this.get(name), args, createCallSite(site), this.stateful, this.secrets.values);
  }

  /** All tools in order of registration. */
  list(): readonly Tool[] {
    return [...this.tools.values()];
  }

  /**
   * Tools that match the patterns, without duplicates, in the order of the patterns. `*` in a name matches any
   * characters (`github_*`); `'*'` alone matches all tools; a leading `!` excludes tools.
   * @throws AppError `TOOL_NOT_FOUND` for a plain name that is neither registered nor announced
   */
  select(patterns: readonly string[] | '*'): readonly Tool[] {
    if (patterns === '*') return this.list();
    const { wanted, unwanted } = readSelection(patterns);
    const isUnwanted = anyPattern(unwanted);
    const tools = new Set(wanted.flatMap((pattern) => this.matching(pattern)));
    return [...tools].filter(({ definition }) => !isUnwanted(definition.name));
  }

  /**
   * Like `select`, but skips unknown plain names. Returns the same array until a tool is registered or unregistered.
   */
  available(patterns: readonly string[] | '*'): readonly Tool[] {
    let tools = this.selected.get(patterns);
    if (!tools) {
      const isThere = (pattern: string) => /[*!]/.test(pattern) || this.tools.has(pattern);
      tools = this.select(patterns === '*' ? patterns : patterns.filter(isThere));
      this.selected.set(patterns, tools);
    }
    return tools;
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.holders.keys()].map((name) => this.dropHolder(name)));
  }

  private useStates(states: StatefulCalls): void {
    this.stateful = states;
    states.onClosed((contextId) => {
      for (const holder of this.holders.values()) holder.release(contextId);
    });
  }

  private async dropHolder(name: string): Promise<void> {
    const holder = this.holders.get(name);
    this.holders.delete(name);
    await holder?.releaseAll();
  }

  private matching(pattern: string): readonly Tool[] {
    if (!pattern.includes('*')) return this.isAwaited(pattern) ? [] : [this.get(pattern)];
    const matches = namePattern(pattern);
    return this.list().filter((tool) => matches(tool.definition.name));
  }

  private isAwaited(name: string): boolean {
    return !this.tools.has(name) && [...this.announced.keys()].some((prefix) => name.startsWith(prefix));
  }

  private heldError(name: string): AppError | undefined {
    for (const [prefix, { heldError }] of this.announced) {
      const error = name.startsWith(prefix) ? heldError?.(name) : undefined;
      if (error) return error;
    }
    return undefined;
  }

  private notFound(name: string): AppError {
    const near = nearNames(name, this.tools.keys());
    const hint = near.length > 0 ? ` Did you mean ${near.map((n) => `"${n}"`).join(' or ')}?` : '';
    return new AppError('TOOL_NOT_FOUND', `There is no tool "${name}".${hint}`, { details: { tool: name, near } });
  }
}

/** Names to include; names prefixed with `!` to exclude. @param patterns in untyped code a name may be absent */
function readSelection(patterns: readonly unknown[] | '*') {
  const all = (patterns === '*' ? [patterns] : patterns).map(String);
  return {
    wanted: all.filter((pattern) => !pattern.startsWith('!')),
    unwanted: all.flatMap((pattern) => (pattern.startsWith('!') ? [pattern.slice(1)] : [])),
  };
}
