import { AppError } from '../errors/index.js';
import type { JsonValue } from '../kernel/json/index.js';
import { MaskedLines, withoutPersonalData } from '../llm/cassette/index.js';
import type { ChatRequest, ChatResult } from '../llm/chat/index.js';
import { REMINDER } from '../reasoning/index.js';
import type { ExportedRun } from '../run/replay/index.js';
import { recordedOutcomeOf, type SuspendOptions, type ToolResult } from '../tool/index.js';

export interface RunCassetteOptions {
  /** Further texts to mask, such as names; whole words. */
  readonly mask?: readonly string[];
}

/** The content of a cassette. */
export interface RunCassette {
  /** JSON texts, one for each call. */
  readonly lines: readonly string[];
  /** Differences between the runs and a replay. */
  readonly notes: readonly string[];
}

type Step = ExportedRun['steps'][number];
/** A text, and the mark that replaces it. */
type Identity = readonly [text: string, mark: string];
type Steps = ReadonlyMap<string, Step>;

const ENDED: readonly string[] = ['completed', 'failed', 'cancelled'];
/** Ids of users that identify no person, and the default tenant. */
const GENERAL: readonly string[] = ['local', 'default', 'admin', 'operator', 'user', 'viewer', 'anonymous', 'system'];

/**
 * Creates a cassette from production runs, their child runs included. Secrets, e-mail addresses, telephone numbers,
 * numbers of cards and persons, and the ids of users and tenants are masked.
 * @throws AppError `VALIDATION_FAILED` for a run that has not ended or is not of an agent, and for an incomplete export
 */
export function cassetteOfRuns(runs: readonly ExportedRun[], { mask = [] }: RunCassetteOptions = {}): RunCassette {
  const ids = new Set(runs.map(({ run_id: id }) => id));
  const marked = mask.map((text): Identity => [text, '[redacted]']);
  const lines = new MaskedLines([...runs.flatMap(identitiesOf), ...marked]);
  const notes = runs.flatMap((run) => {
    assertComplete(run, ids);
    addCalls(lines, run);
    return notesOf(run);
  });
  return { lines: lines.lines, notes };
}

function assertComplete({ run_id: id, kind, status, children }: ExportedRun, ids: ReadonlySet<string>): void {
  if (kind !== 'agent') throw refused(id, `is of kind "${kind}"; a cassette has the calls of agents`);
  if (!ENDED.includes(status)) throw refused(id, `has not ended: its status is ${status}. Wait for its end`);
  const missing = Object.keys(children).filter((child) => !ids.has(child));
  if (missing.length > 0)
    throw refused(id, `called other runs, whose calls are needed, too: also name ${missing.join(', ')}`);
}

function identitiesOf({ principal, steps }: ExportedRun): Identity[] {
  const deciders = steps
    .filter(({ kind }) => kind === 'answer')
    .map(({ result }) => (result as { readonly by?: string | null }).by ?? '');
  const people = [principal.id, ...deciders].map((id): Identity => [id, '<user>']);
  const found: Identity[] = [...people, [principal.tenant, '<tenant>']];
  // An address is masked as such, also in a replay.
  return found.filter(([id]) => !GENERAL.includes(id) && withoutPersonalData(id) === id);
}

function addCalls(lines: MaskedLines, run: ExportedRun): void {
  const steps: Steps = new Map(run.steps.map((step) => [step.name, step]));
  for (const step of run.steps.toSorted((one, other) => one.position - other.position)) {
    if (step.kind === 'model') addModelCall(lines, run, step);
    if (step.kind === 'suspend' || step.kind === 'tool') addToolCall(lines, run, step, steps);
  }
}

function addModelCall(lines: MaskedLines, run: ExportedRun, { name, result }: Step): void {
  const { model, request } = requestOf(run, name);
  // The fields of the model; others are those of the loop.
  const { message, finishReason, usage, model: answering, switches, refusedImages } = result as ChatResult;
  const reply = { message, finishReason, model: answering, ...(usage && { usage }) };
  lines.addModelCall(model, request, {
    ...reply,
    ...(switches && { switches }),
    ...(refusedImages && { refusedImages }),
  });
}

function requestOf(run: ExportedRun, name: string): { readonly model: string; readonly request: ChatRequest } {
  const { run_id: id, requests } = run;
  if (!/^model:\d/.test(name))
    throw refused(id, `has summarised its context (${name}); the requests of summaries are not recorded`);
  const found = requests.find(({ step }) => step === name);
  if (!found) {
    const reason = requests.length === 0 ? 'a viewer may not read them' : 'its loop did not reach the step';
    throw refused(
      id,
      `has no request of ${name} in its export: ${reason}. Export it with another key, or where it ran`,
    );
  }
  const { model, form } = found;
  const request = found.request ?? (form === 'model' ? (found.body as ChatRequest) : undefined);
  if (model === undefined || !request) throw refused(id, 'is exported by an earlier version; export it again');
  return { model, request };
}

/** Calls that no tool executed have no line: rejected and denied ones, sub-agents, and tools of clients. */
function addToolCall(lines: MaskedLines, run: ExportedRun, step: Step, steps: Steps): void {
  const [, place = ''] = /:(\d+:\d+(?:\.\d+)?)/.exec(step.name) ?? [];
  const planned = run.calls.find((one) => one.step === `tool:${place}`);
  const { clientTools = [] } = run.input as { readonly clientTools?: readonly { readonly name: string }[] };
  const isOfClient = clientTools.some(({ name }) => name === step.subject);
  if (!planned || planned.decision === 'rejected' || isOfClient || steps.has(`child:${place}`)) return;
  const outcome = step.kind === 'suspend' ? questionOf(step) : outcomeOf(run, step, steps);
  if (outcome !== null) lines.addToolCall(step.subject, planned.input as JsonValue, outcome);
}

function questionOf({ result }: Step): JsonValue {
  const { question, schema, takes_denial } = result as SuspendOptions & { readonly takes_denial?: true };
  return {
    suspended: { question, ...(schema && { schema }), ...(takes_denial && { takesDenial: true }) },
  } as JsonValue;
}

function outcomeOf(run: ExportedRun, { name, result }: Step, steps: Steps): JsonValue | null {
  const { whole, ...given } = result as ToolResult & { readonly whole?: JsonValue };
  if (!isExecuted(given, name, steps)) return null;
  if (!given.success) return recordedOutcomeOf({ ...given, error: withoutReminder(given.error) });
  const images = given.images?.map((url) => dataOf(run, url));
  return recordedOutcomeOf({ ...given, ...(images && { images }) }, whole);
}

function isExecuted(result: ToolResult, name: string, steps: Steps): boolean {
  if (result.success) return true;
  const { code, error } = result;
  const policy = steps.get(name.replace('tool:', 'policy:'))?.result as { readonly kind?: string } | undefined;
  if (policy?.kind === 'rejected' || code === 'TOOL_CANCELLED' || code === 'TOOL_EXPIRED') return false;
  return !error.startsWith('Not executed') && !isDenied(name, steps);
}

/** Whether a person denied the call itself, or its question without a further call of the tool. */
function isDenied(name: string, steps: Steps): boolean {
  const place = name.slice('tool:'.length);
  return [...steps.values()].some(({ name: answer, subject }) => {
    if (subject !== 'deny') return false;
    if (answer === `answer:approval:${place}`) return true;
    if (!answer.startsWith(`answer:input:${place}`)) return false;
    const question = steps.get(answer.replace('answer:input:', 'suspend:'))?.result;
    return (question as { readonly takes_denial?: true } | undefined)?.takes_denial !== true;
  });
}

function withoutReminder(error: string): string {
  return error.endsWith(REMINDER) ? error.slice(0, -REMINDER.length) : error;
}

/** The content of an image of a result, which is a file of the run. */
function dataOf({ files }: ExportedRun, url: string): string {
  const file = files.find(({ n }) => url === `file:${n}`);
  return file ? `data:${file.media_type};base64,${file.data}` : url;
}

function notesOf({ run_id: id, status, requests }: ExportedRun): string[] {
  const changed = requests.filter(({ hash, sent_hash: sent }) => sent !== null && hash !== null && hash !== sent);
  return [
    ...changed.map(({ step }) => `The request of ${step} of run ${id} is not the one that was sent.`),
    ...(status === 'completed' ? [] : [`Run ${id} is ${status}: a replay ends with the last recorded call.`]),
  ];
}

function refused(id: string, problem: string): AppError {
  return new AppError('VALIDATION_FAILED', `Run ${id} ${problem}.`);
}
