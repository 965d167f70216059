import { Inject, Injectable, Optional, type OnApplicationShutdown } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { Cache, MemoryCache } from '../cache/index.js';
import { AppError, ChangeListeners, untilAborted } from '../common/index.js';
import { callDirectly } from './call/direct-call.executor.js';
import { createCallSite } from './call/tool-request.factory.js';
import { nearNames } from './near-name.mapper.js';
import { anyPattern, namePattern } from './policy/name-pattern.parser.js';
import { createRegisteredTool } from './registered-tool.factory.js';
import type { ContextHolder } from './state/context-holder.types.js';
import { ToolStates } from './state/tool-states.service.js';
import { refusedName } from './tool-name.policy.js';
import type { ToolRegistration } from './tool-registration.types.js';
import type { CallSite, Tool, ToolMetadata } from './tool.types.js';
import { wrapTool } from './wrappers/tool-wrapper.factory.js';

/** Limits of the default cache of results: time to live (ms) and size (bytes). */
const OWN_CACHE_TTL_MS = 3_600_000;
const OWN_CACHE_BYTES = 16 * 1024 * 1024;

/** Owns all tools by name. Works without Nest too. */
@Injectable()
export class ToolRegistry implements OnApplicationShutdown {
  private readonly tools = new Map<string, Tool>();
  private readonly cache: Cache;
  /** Functions that release all instances of tools with a holder, by tool name. */
  private readonly holders = new Map<string, () => Promise<void>>();
  /**
   * Announced name prefixes. The promise settles after the first arrival or if the tools are delayed; then the value is
   * `null`.
   */
  private readonly announced = new Map<string, Promise<void> | null>();
  /** Selections since the last change: a stable array lets callers cache values derived from it. */
  private selected = new Map<readonly string[] | '*', readonly Tool[]>();
  private exploreModule: ((moduleRef: ModuleRef) => Promise<readonly string[]>) | null = null;
  /** Listeners for registered, unregistered and switched tools. */
  readonly changes = new ChangeListeners();

  constructor(
    @Optional() @Inject(Cache) cache: Cache | null = null,
    /** States of the registered stateful tools. */
    @Optional() readonly states: ToolStates = ToolStates.inMemory(),
  ) {
    this.cache = cache ?? new MemoryCache(OWN_CACHE_TTL_MS, OWN_CACHE_BYTES);
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
      const { source } = tool.metadata;
      const refusal = refusedName(name);
      if (refusal) throw new AppError('TOOL_INVALID', `${source}: ${refusal}.`);
      const other = this.tools.get(name) ?? coming.get(name);
      if (other) throw duplicateOf(name, other.metadata, tool.metadata);
      coming.set(name, this.wrapped(tool));
    }
    for (const [name, tool] of coming) this.tools.set(name, tool);
    for (const one of added) if ('holder' in one && one.holder) this.hold(one.name, one.holder);
    this.selected = new Map();
    this.changes.tell();
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
    return wrapTool(tool, this.cache);
  }

  /** Returns whether the tool existed. Runs that already hold the tool can still call it. */
  unregister(name: string): boolean {
    this.selected = new Map();
    void this.holders.get(name)?.();
    const wasThere = this.tools.delete(name);
    if (wasThere) this.changes.tell();
    return wasThere;
  }

  /**
   * Announces that tools with this name prefix may be registered and unregistered. Their names are then valid in
   * selections before the tools exist.
   * @param first settles after their first arrival, or if they are delayed: runs that start earlier wait for it
   * @returns a function that withdraws the announcement
   */
  announce(prefix: string, first: Promise<void>): () => void {
    const arrival = first.finally(() => {
      if (this.announced.get(prefix) === arrival) this.announced.set(prefix, null);
    });
    this.announced.set(prefix, arrival);
    return () => void this.announced.delete(prefix);
  }

  /** Waits for announced tools that match the patterns and have not arrived yet; never throws. */
  async arrived(patterns: readonly unknown[] | '*', signal: AbortSignal): Promise<void> {
    if (this.announced.size === 0) return;
    const { wanted, unwanted } = readSelection(patterns);
    const heads = wanted.map((pattern) => pattern.split('*', 1)[0]!);
    const coming = [...this.announced].flatMap(([prefix, arrival]) =>
      arrival &&
      !unwanted.includes(`${prefix}*`) &&
      heads.some((head) => head.startsWith(prefix) || prefix.startsWith(head))
        ? [arrival]
        : [],
    );
    if (coming.length > 0) await untilAborted(Promise.all(coming), signal).catch(() => undefined);
  }

  has(name: string): boolean {
    return this.tools.has(name);
  }

  /** @throws AppError `TOOL_NOT_FOUND` with similar names */
  get(name: string): Tool {
    const tool = this.tools.get(name);
    if (!tool) throw this.notFound(name);
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
    return callDirectly(this.get(name), args, createCallSite(site), this.states);
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
    await Promise.all([...this.holders.values()].map((end) => end()));
  }

  private hold(name: string, holder: ContextHolder): void {
    const leave = this.states.onClosed((contextId) => holder.release(contextId));
    this.holders.set(name, async () => {
      leave();
      this.holders.delete(name);
      await holder.releaseAll();
    });
  }

  private matching(pattern: string): readonly Tool[] {
    if (!pattern.includes('*')) return this.isAwaited(pattern) ? [] : [this.get(pattern)];
    const matches = namePattern(pattern);
    return this.list().filter((tool) => matches(tool.definition.name));
  }

  private isAwaited(name: string): boolean {
    return !this.tools.has(name) && [...this.announced.keys()].some((prefix) => name.startsWith(prefix));
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

function duplicateOf(name: string, first: ToolMetadata, second: ToolMetadata): AppError {
  const sources = [first.source, second.source];
  const modules = [first.module ?? null, second.module ?? null];
  const hint = first.source === second.source ? sameSourceHint(first.source) : 'give one of them another name';
  const message = `Two tools are named "${name}": ${sources.join(' and ')}${inModules(first, second)}; ${hint}.`;
  return new AppError('TOOL_DUPLICATE', message, { details: { tool: name, sources, modules } });
}

/** Modules of the two tools, as far as known, for an error message. */
function inModules(first: ToolMetadata, second: ToolMetadata): string {
  const [one, other] = [first.module, second.module];
  if (one !== undefined && one === other) return ` (both in the module ${one})`;
  if (one !== undefined && other !== undefined) return ` (in the modules ${one} and ${other})`;
  if (one !== undefined) return ` (the first in the module ${one})`;
  return other === undefined ? '' : ` (the second in the module ${other})`;
}

function sameSourceHint(source: string): string {
  if (source.startsWith('registry.')) return 'unregister the first before you replace it';
  return 'the provider is probably listed in two modules: provide it in one and export it from there';
}
