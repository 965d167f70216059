import { messageOf } from '../../src/errors/index.js';
import type { Answer } from './jackdaw.js';
import type { HostileWorld } from './hostile-world.js';
import type { FilledCall, RouteField } from './route-fields.js';

/** The outcome of the values that were sent to a field. */
export interface Strike {
  readonly sent: number;
  readonly taken: number;
  readonly faults: readonly string[];
}

/** A request without an answer. */
interface Failure {
  readonly failure: string;
}

interface Mistake {
  readonly field?: unknown;
  readonly message?: unknown;
  readonly rule?: unknown;
  readonly got?: unknown;
}

/** Error codes that name the wrong field. */
const ABOUT_FIELDS: readonly string[] = ['VALIDATION_FAILED', 'TOOL_INVALID_ARGUMENTS'];
/** Error codes of accepted requests that failed later: a given deadline, a format that the model does not meet. */
const LATER: readonly string[] = ['RUN_TIMEOUT', 'OUTPUT_INVALID'];
/** Fields with several forms or a language of their own: an error inside is reported for the whole field. */
const WHOLES: readonly string[] = ['responseformat.schema', 'toolchoice'];
/** Number of faults that are shown for a field. */
const SHOWN = 5;

/** Sends values to a field, this number at a time. */
export async function strike(
  world: HostileWorld,
  field: RouteField,
  values: readonly unknown[],
  atOnce: number,
): Promise<Strike> {
  const waiting = values.values();
  const faults: string[] = [];
  let sent = 0;
  let taken = 0;
  const lane = async (): Promise<void> => {
    let given = await world.given(field);
    for (const value of waiting) {
      const wanted = field.request(value, given);
      if (!wanted) continue;
      const answer = await answerOf(world, wanted);
      sent++;
      if ('failure' in answer) {
        faults.push(outcomeText(field, value, answer.failure, wanted));
        continue;
      }
      const fault = faultOf(field, answer);
      if (fault !== undefined) faults.push(outcomeText(field, value, fault, wanted));
      if (answer.status >= 400) continue;
      taken++;
      if (await world.settle(field, answer)) given = await world.given(field);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, values.length) }, lane));
  return { sent, taken, faults };
}

/** Repeats a request whose connection was closed: an idle keep-alive connection may have ended. */
async function answerOf(world: HostileWorld, wanted: FilledCall): Promise<Answer | Failure> {
  const ask = () => world.ask(wanted).catch(toFailure);
  const answer = await ask();
  return 'failure' in answer ? ask() : answer;
}

/** The error may be from another realm, and then no `Error` of this one. */
function toFailure(error: Error): Failure {
  return { failure: messageOf(error.cause ?? error) };
}

/** The first of many faults. */
export function shown({ faults }: Strike): readonly string[] {
  const more = faults.length - SHOWN;
  return more > 0 ? [...faults.slice(0, SHOWN), `… and ${more} more of this field`] : faults;
}

function outcomeText({ route, name }: RouteField, value: unknown, fault: string, { body }: FilledCall): string {
  const whole = JSON.stringify(body)?.slice(0, 200) ?? 'no body';
  return `${route} ${name} with ${JSON.stringify(value)?.slice(0, 200)}: ${fault} (${whole})`;
}

/** An answer is a success or names the wrong field; an internal error is a fault. */
function faultOf(field: RouteField, answer: Answer): string | undefined {
  const { status, text } = answer;
  const fault = text.includes('"code":"INTERNAL"')
    ? 'it is ours'
    : status < 400
      ? undefined
      : refusalFault(field, answer);
  return fault && `${fault}: ${status} ${text.slice(0, 400)}`;
}

function refusalFault({ name }: RouteField, { status, body, headers }: Answer): string | undefined {
  const code: unknown = body['code'];
  if (!isProblem(headers) || typeof code !== 'string') return 'no problem';
  if (status >= 500 && !LATER.includes(code)) return 'it is ours';
  if (!/\w+ \w+/.test(String(body['detail']))) return 'says nothing';
  if (!ABOUT_FIELDS.includes(code)) return undefined;
  const mistakes = (body['errors'] ?? []) as readonly Mistake[];
  const isDescribed = mistakes.length > 0 && mistakes.every((one) => isWhole(one, name));
  return isDescribed ? undefined : 'does not name the fault and its place';
}

function isProblem(headers: Headers): boolean {
  return headers.get('content-type')?.startsWith('application/problem+json') ?? false;
}

function isWhole({ field, message, rule, got }: Mistake, name: string): boolean {
  const isDescribed = [message, rule, got].every((text) => typeof text === 'string' && /\w/.test(text));
  return isDescribed && typeof field === 'string' && isUnder(field, name);
}

/** Whether a field is the tested one, or inside it. */
function isUnder(place: string, name: string): boolean {
  const [where = '', ...keys] = name.split('.');
  if (where === 'body' && keys.length === 0) return true;
  const struck = keys.join('.').toLowerCase();
  const at = place.replaceAll(/\[(\d+)\]/g, '.$1').toLowerCase();
  return at === struck || at.startsWith(`${struck}.`) || (WHOLES.includes(at) && struck.startsWith(at));
}
