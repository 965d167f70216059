import { hash } from 'node:crypto';
import { AppError, Log, messageOf } from '../../errors/index.js';
import type { ChatRequest, ChatResult, ParameterName, ToolSpec } from '../chat/chat.types.js';
import type { Message } from '../chat/message.types.js';
import { fitTool, type ToolRules } from '../tool-schema.mapper.js';
import { AddressRegistry, setBounded, type Target } from './address.registry.js';
import { type FieldChange, type FieldChanges, REASONING_OFF } from './adapted-request.builder.js';

/** Names that every provider accepts unless its rules are stricter. */
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const MAX_NAME = 64;
const HASH_LENGTH = 10;
/** A name made by `toWireName`. A tool of such a name is renamed too, so that no two tools have one name. */
const RENAMED = /^t_[a-zA-Z0-9_-]*_[0-9a-f]{10}$/;

/** A tool that a request omits, since the provider's format cannot express it. */
interface OmittedTool {
  readonly tool: string;
  readonly reason: string;
}

/** The tools of requests as a provider accepts them, in the order of the given ones. */
interface FittedTools {
  readonly tools: readonly ToolSpec[];
  /** The own names of `tools`. */
  readonly ownNames: readonly string[];
  readonly omitted: readonly OmittedTool[];
}

/** A request as a provider accepts it. */
export interface FittedRequest {
  readonly request: ChatRequest;
  /** The tools' own names, by the names in the request that differ. */
  readonly ownNames: ReadonlyMap<string, string>;
  /** Absent for a request without tools. */
  readonly fitted?: FittedTools;
}

/** Cache by rules and array: an agent passes the same array with every call. */
const known = new WeakMap<ToolRules, WeakMap<readonly ToolSpec[], FittedTools>>();

/**
 * The name of a tool in requests: its own if the provider accepts it. Otherwise it depends on the own name alone, so
 * that it is the same in every request, whatever the other tools are.
 */
export function toWireName(name: string, valid: RegExp = NAME): string {
  if (valid.test(name) && !RENAMED.test(name)) return name;
  const readable = name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, MAX_NAME - HASH_LENGTH - 3);
  return `t_${readable}_${hash('sha256', name).slice(0, HASH_LENGTH)}`;
}

/** Adapts the tools of a request, and the names of tools in its history, to a provider. */
export function createFittedRequest(request: ChatRequest, rules: ToolRules): FittedRequest {
  const ownNames = new Map<string, string>();
  const rename = (name: string): string => {
    const wire = toWireName(name, rules.name);
    if (wire !== name) ownNames.set(wire, name);
    return wire;
  };
  const messages = request.messages.map((message) => renamed(message, rename));
  for (const { name } of request.tools ?? []) rename(name);
  const named = ownNames.size === 0 ? request : { ...request, messages };
  if (!request.tools?.length) return { request: named, ownNames };
  const fitted = fitTools(request.tools, rules);
  return { request: withTools(named, fitted.tools, rename), ownNames, fitted };
}

/** A reply with the tools' own names. */
export function withOwnNames(result: ChatResult, { ownNames }: FittedRequest): ChatResult {
  const { message } = result;
  if (ownNames.size === 0 || !message.toolCalls) return result;
  const toolCalls = message.toolCalls.map((call) => ({ ...call, name: ownNames.get(call.name) ?? call.name }));
  return { ...result, message: { ...message, toolCalls } };
}

/** @throws AppError `MODEL_TOO_MANY_TOOLS` if a request has more tools than the provider accepts */
export function assertToolCount({ tools }: FittedTools, { maxTools = Infinity }: ToolRules, model: string): void {
  if (tools.length <= maxTools) return;
  throw new AppError(
    'MODEL_TOO_MANY_TOOLS',
    `The request has ${tools.length} tools, and the model ${model} accepts at most ${maxTools}; choose fewer tools by the agent's "tools" (names or patterns), or another model.`,
    { details: { limit: maxTools, tools: tools.length } },
  );
}

/** Levels of a tool's schema; the recursion of the protocols and of providers ends somewhere above. */
const MAX_SCHEMA_DEPTH = 500;

function fitTools(tools: readonly ToolSpec[], rules: ToolRules): FittedTools {
  let ofRules = known.get(rules);
  if (!ofRules) known.set(rules, (ofRules = new WeakMap()));
  let fitted = ofRules.get(tools);
  if (!fitted) ofRules.set(tools, (fitted = fitAll(tools, rules)));
  return fitted;
}

function fitAll(tools: readonly ToolSpec[], rules: ToolRules): FittedTools {
  const fitted: ToolSpec[] = [];
  const ownNames: string[] = [];
  const omitted: OmittedTool[] = [];
  for (const tool of tools) {
    try {
      fitted.push(fitOne(tool, rules));
      ownNames.push(tool.name);
    } catch (error) {
      omitted.push({ tool: tool.name, reason: messageOf(error) });
    }
  }
  return { tools: fitted, ownNames, omitted };
}

/** @throws Error if the tool cannot be expressed */
function fitOne(tool: ToolSpec, rules: ToolRules): ToolSpec {
  if (isTooDeep(tool.inputSchema)) throw new Error('its schema is nested too deeply');
  const name = toWireName(tool.name, rules.name);
  const named = name === tool.name ? tool : { ...tool, description: `${tool.description}\nIts own name: ${tool.name}` };
  const { description, schema } = fitTool(named, rules);
  const spec = { name, description, inputSchema: schema };
  JSON.stringify(spec);
  return spec;
}

/** Level by level: deep recursion would overflow the stack. */
function isTooDeep(schema: unknown): boolean {
  let level: unknown[] = [schema];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_SCHEMA_DEPTH) return true;
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []));
  }
  return false;
}

function withTools(request: ChatRequest, tools: readonly ToolSpec[], rename: (name: string) => string): ChatRequest {
  const { tools: _own, toolChoice, ...rest } = request;
  if (tools.length === 0) return rest;
  const choice = typeof toolChoice === 'object' ? { name: rename(toolChoice.name) } : toolChoice;
  const isOffered = typeof choice !== 'object' || tools.some(({ name }) => name === choice.name);
  return { ...rest, tools, ...(choice !== undefined && isOffered && { toolChoice: choice }) };
}

function renamed(message: Message, rename: (name: string) => string): Message {
  if (message.role === 'tool') {
    const name = rename(message.name);
    return name === message.name ? message : { ...message, name };
  }
  if (message.role !== 'assistant' || !message.toolCalls) return message;
  if (message.toolCalls.every(({ name }) => rename(name) === name)) return message;
  return { ...message, toolCalls: message.toolCalls.map((call) => ({ ...call, name: rename(call.name) })) };
}

interface Adaptation {
  readonly name: string;
  readonly changes: Map<string, FieldChange>;
}

/** A tool that requests to a model omit. */
export interface ModelOmission {
  readonly tool: string;
  /** As `provider:model`. */
  readonly model: string;
  readonly reason: string;
}

/** The changes of requests that providers required in this process. */
export class AdaptationRegistry {
  readonly addresses = new AddressRegistry();
  private readonly logger = new Log(AdaptationRegistry.name);
  private readonly known = new Map<string, Adaptation>();
  private readonly omissions = new Map<string, ModelOmission>();
  /** The last tools of each model: the same object needs no second look. */
  private readonly lastTools = new Map<string, FittedTools>();

  /** @param droppable parameters that may be omitted although a caller set them */
  constructor(private readonly droppable: readonly ParameterName[] = []) {}

  mayDrop(parameter: ParameterName): boolean {
    return this.droppable.includes(parameter);
  }

  /** The known changes of a model's requests. */
  of(target: Target): FieldChanges {
    return new Map(this.known.get(keyOf(target))?.changes);
  }

  /** Remembers changes after a reply to the changed request; each is logged once. */
  learn(target: Target, found: FieldChanges): void {
    const { provider, model } = target;
    const key = keyOf(target);
    const { changes } = this.known.get(key) ?? this.add(key, `${provider}:${model}`);
    for (const [field, name] of found) {
      if (changes.has(field)) continue;
      changes.set(field, name);
      this.logger.warn(
        `The provider ${provider} requires changed requests to model ${model}: ${describeChange(field, name)}`,
      );
    }
  }

  /** The changes of all models, by field. */
  all(): FieldChanges {
    return new Map([...this.known.values()].flatMap(({ changes }) => [...changes]));
  }

  /** Descriptions of all changes, by `provider:model`, or by `provider` for those of a base URL. */
  list(): ReadonlyMap<string, readonly string[]> {
    const lists = new Map<string, readonly string[]>();
    const add = (name: string, texts: readonly string[]) =>
      lists.set(name, [...new Set([...(lists.get(name) ?? []), ...texts])]);
    for (const { name, change } of this.addresses.list()) add(name, [change]);
    for (const { name, changes } of this.known.values()) {
      add(
        name,
        [...changes].map(([field, other]) => describeChange(field, other)),
      );
    }
    return lists;
  }

  /** Remembers the tools that requests to a model omit; each is logged once. */
  learnTools({ provider, model }: Target, fitted: FittedTools): void {
    const name = `${provider}:${model}`;
    if (this.lastTools.get(name) === fitted) return;
    setBounded(this.lastTools, name, fitted);
    for (const tool of fitted.ownNames) this.omissions.delete(JSON.stringify([name, tool]));
    for (const { tool, reason } of fitted.omitted) {
      const key = JSON.stringify([name, tool]);
      if (this.omissions.get(key)?.reason === reason) continue;
      setBounded(this.omissions, key, { tool, model: name, reason });
      this.logger.warn(`Requests to model ${model} of ${provider} omit the tool ${JSON.stringify(tool)}: ${reason}`);
    }
  }

  /** The tools that requests omit. */
  omitted(): readonly ModelOmission[] {
    return [...this.omissions.values()];
  }

  private add(key: string, name: string): Adaptation {
    const made = { name, changes: new Map<string, FieldChange>() };
    setBounded(this.known, key, made);
    return made;
  }
}

function keyOf({ baseUrl, model, api }: Target): string {
  return JSON.stringify([baseUrl, model, api]);
}

export function describeChange(field: string, name: FieldChange): string {
  if (typeof name === 'number') return `${field} is added (${name})`;
  if (field === REASONING_OFF) return `${field} is added`;
  return name === null ? `${field} is omitted` : `${field} is sent as ${name}`;
}
