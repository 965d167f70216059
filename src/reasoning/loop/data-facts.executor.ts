import { AsyncLocalStorage } from 'node:async_hooks';
import type { ErrorCode } from '../../errors/index.js';
import type { Message } from '../../llm/chat/index.js';
import type { RunContext } from '../../run/context/index.js';
import { type DataFact, mergeFacts, storedFacts, UNKNOWN_FACTS } from '../../run/facts/index.js';
import type { CheckedCall, ToolResult } from '../../tool/index.js';
import { executingCall, factsOf, learnFacts } from '../../tool/call/index.js';
import { type PolicyDecision, ToolPolicy } from '../../tool/decision/index.js';
import type { Tool, ToolContext } from '../../tool/method/index.js';
import { type SecurityPolicies, TaintPolicy } from '../../tool-policy/index.js';
import type { CalledRun, CallLoop, Loop } from '../reasoning.types.js';
import type { PlacedCall } from './waiting-request.factory.js';

/** Errors whose text is our own: the tool was not called, or its output is withheld. */
const OURS: ReadonlySet<ErrorCode> = new Set([
  'TOOL_NOT_FOUND',
  'TOOL_INVALID_ARGUMENTS',
  'TOOL_DENIED',
  'TOOL_DISABLED',
  'TOOL_HELD',
  'TOOL_EXPIRED',
  'TOOL_RATE_LIMITED',
  'TOOL_RESULT_BLOCKED',
  'TOOL_CANCELLED',
]);

/** Origin of a result. */
export interface ResultOrigin {
  /** Whether the tool was called; `TOOL_DENIED` is then the tool's own text. */
  readonly isCalled?: boolean;
  /** The run of the call, which gives its facts back. */
  readonly child?: CalledRun | undefined;
  /** Facts of stored data that the call has read. */
  readonly learned?: readonly DataFact[] | undefined;
}

/** A record of facts; earlier versions recorded `true` for untrusted content. */
type RecordedFacts = readonly DataFact[] | true;

/**
 * Adds the facts of a call's result. Those that the tool does not declare as private are recorded in the journal, so that
 * a replay does not depend on the current tool; a replay finds the others by `addReplayedFacts`.
 */
export async function recordFacts(
  placed: PlacedCall,
  result: ToolResult,
  { isCalled = false, child, learned = [] }: ResultOrigin,
): Promise<void> {
  const { loop, call, place } = placed;
  const step = loop.run.nameOf({ kind: 'tool', place });
  const isRefusal = isCalled && codeOf(result) === 'TOOL_DENIED';
  const tool = isOurs(result) && !isRefusal ? undefined : loop.tools.get(call.name);
  const own = privateFacts(tool, step);
  const facts = [...untrustedFacts(tool, step), ...learned, ...(child ? storedFacts(toStored(child)) : [])];
  // A replay cannot distinguish the refusal of a tool from that of a policy.
  const recorded = isRefusal ? [...facts, ...own] : facts;
  // Not compared with parallel calls: a fork may copy this call without them.
  const added = mergeFacts(loop.facts, recorded).slice(loop.facts.length);
  loop.reading = mergeFacts(mergeFacts(loop.reading, facts), own);
  if (added.length > 0) await loop.run.value<RecordedFacts>(noteOf(place), () => added);
}

/** Adds the facts of a recorded result; that of a tool that no longer exists counts as private. */
export function addReplayedFacts({ loop, call, place }: PlacedCall, result: ToolResult): void {
  if (isOurs(result)) return;
  const step = loop.run.nameOf({ kind: 'tool', place });
  const tool = loop.tools.get(call.name);
  const facts: readonly DataFact[] = tool ? privateFacts(tool, step) : [{ fact: 'private', step, tool: call.name }];
  loop.reading = mergeFacts(loop.reading, facts);
}

function isOurs(result: ToolResult): boolean {
  return !result.success && OURS.has(result.code);
}

function codeOf(result: ToolResult): ErrorCode | undefined {
  return result.success ? undefined : result.code;
}

/** The loop whose model or tool is executing, and the policies in force. */
interface Caller {
  readonly loop: Pick<CallLoop, 'run' | 'request' | 'facts' | 'iteration' | 'repairs'>;
  /** `null` outside of an application's runs: an enhanced model on its own has no rule. */
  readonly rule: TaintPolicy | null;
}

const CALLERS = new AsyncLocalStorage<Caller>();

/** Executes a part of a loop as the caller of the enhanced models that its model and its tools call. */
export function asCaller<T>(loop: Caller['loop'], policies: SecurityPolicies, work: () => Promise<T>): Promise<T> {
  const { run, request } = loop;
  const rule = run.isJournaled ? new TaintPolicy(policies, request.rules) : (CALLERS.getStore()?.rule ?? null);
  return CALLERS.run({ loop, rule }, work);
}

/** Applies the rule of three facts of an application's run to the enhanced models that it calls. */
export class CallerTaintPolicy extends ToolPolicy {
  readonly name = 'taint';

  override concerns(call: CheckedCall, context: ToolContext): boolean {
    return CALLERS.getStore()?.rule?.concerns(call, context) ?? false;
  }

  decide(call: CheckedCall, context: ToolContext): PolicyDecision {
    return CALLERS.getStore()?.rule?.decide(call, context) ?? 'allow';
  }
}

/** Facts of the run and of the call that call an enhanced model; none outside of both. */
export function factsOfCaller(): readonly DataFact[] {
  const call = executingCall();
  return mergeFacts(CALLERS.getStore()?.loop.facts ?? [], call ? factsOf(call as ToolContext) : []);
}

/** Gives the facts of an enhanced model back to its caller, which records them with its own step. */
export async function giveBackFacts(facts: readonly DataFact[]): Promise<void> {
  const call = executingCall();
  if (call) learnFacts(call as ToolContext, facts);
  const loop = CALLERS.getStore()?.loop;
  const all = loop ? mergeFacts(loop.facts, facts) : [];
  if (!loop || all === loop.facts) return;
  const added = all.slice(loop.facts.length);
  loop.facts = all;
  await loop.run.value<RecordedFacts>(noteOf(placeOfModel(loop)), () => added);
}

/** Adds the facts that an earlier execution recorded for the model call of this iteration. */
export async function readModelFacts(loop: Loop): Promise<void> {
  const place = placeOfModel(loop);
  if (isNoted(loop.run, place)) loop.facts = mergeFacts(loop.facts, await readNote(loop.run, place));
}

/** The facts that messages of earlier tool calls bring along; results of other tools may be anything. */
export function factsOfMessages(messages: readonly Message[], tools: readonly Tool[]): readonly DataFact[] {
  const known = new Map(tools.map((tool) => [tool.definition.name, tool]));
  return messages.reduce<readonly DataFact[]>((facts, message) => {
    if (message.role !== 'tool') return facts;
    const tool = message.name === undefined ? undefined : known.get(message.name);
    return mergeFacts(facts, tool ? [...untrustedFacts(tool, 'input'), ...privateFacts(tool, 'input')] : UNKNOWN_FACTS);
  }, []);
}

/** Adds the facts that an earlier execution recorded for this call. */
export async function readRecordedFacts({ loop, place }: PlacedCall): Promise<void> {
  if (isNoted(loop.run, place)) loop.reading = mergeFacts(loop.reading, await readNote(loop.run, place));
}

/** The fact that an untrusted source describes a tool of the run, now or in an earlier execution; records it. */
export async function factsOfDefinitions(run: RunContext, tools: readonly Tool[]): Promise<readonly DataFact[]> {
  const marked = tools.find(({ metadata }) => metadata.untrustedDefinition);
  // Runs without such a tool record nothing.
  if (!marked && !isNoted(run, DESCRIPTIONS)) return [];
  const tool = marked && { tool: marked.definition.name };
  const facts: RecordedFacts = [{ fact: 'untrusted', step: 'definitions', ...tool }];
  return toFacts(await run.value<RecordedFacts>(noteOf(DESCRIPTIONS), () => facts));
}

function untrustedFacts(from: Tool | undefined, step: string): readonly DataFact[] {
  if (!from) return [];
  const { definition, metadata } = from;
  const tool = definition.name;
  return metadata.untrusted ? [{ fact: 'untrusted', step, tool }] : [];
}

function privateFacts(from: Tool | undefined, step: string): readonly DataFact[] {
  if (!from) return [];
  const { definition, metadata } = from;
  const tool = definition.name;
  const { private: isPrivate = true, origin } = metadata;
  return isPrivate ? [{ fact: 'private', step, tool, ...(origin && { origin: origin.name }) }] : [];
}

function toStored({ is_tainted: isTainted, facts }: CalledRun) {
  return { isTainted, facts };
}

async function readNote(run: RunContext, place: string): Promise<readonly DataFact[]> {
  return toFacts(await run.value<RecordedFacts>(noteOf(place), () => []));
}

function toFacts(recorded: RecordedFacts): readonly DataFact[] {
  return recorded === true ? storedFacts({ isTainted: true }) : recorded;
}

function isNoted(run: RunContext, place: string): boolean {
  return run.isRecorded({ kind: 'value', place: noteOf(place) });
}

function placeOfModel({ iteration, repairs }: Caller['loop']): string {
  return `model:${iteration}${repairs > 0 ? `:r${repairs}` : ''}`;
}

/** Place of the record for tool descriptions; places of calls begin with a number. */
const DESCRIPTIONS = 'descriptions';

/** The prefix is that of earlier versions, whose journals are replayed. */
function noteOf(place: string): string {
  return `strangers:${place}`;
}
