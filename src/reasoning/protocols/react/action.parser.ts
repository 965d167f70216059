import { isJsonObject, parseExactJson, parseJson } from '../../../kernel/json/index.js';
import { mayBeJson } from '../json-text.policy.js';
import { fencedPart, withoutFences } from './fence.parser.js';
import { parseKeywords } from './loose-json.parser.js';

/** Meaning of one `Action:`; independent of the tools, so that a stream is parsed the same way. */
export type ParsedAction =
  | { readonly kind: 'call'; readonly name: string; readonly input: string }
  /** The run ends; `text` is the answer, if the action has one. */
  | { readonly kind: 'finish'; readonly text: string }
  /** The model wrote that there is nothing to do; `text` is the rest of its text. */
  | { readonly kind: 'none'; readonly text: string };

const FINISH = new Set(['finish', 'final answer', '完成', '结束', '最终答案']);
const NOTHING = new Set(
  [
    '',
    'none',
    'null',
    'nil',
    'n/a',
    'na',
    'no action',
    'none needed',
    'nothing',
    '无',
    '無',
    '没有',
    '不需要',
    '无需',
  ].concat(['none required', 'no action needed', 'no action required', '无需行动', '空']),
);
const LONGEST_NOTHING = 40;
/** In UTF-16 units; the rest is not part of the name. */
const LONGEST_NAME = 400;
/** A name alone, the usual case. */
const PLAIN = /^[\w-]{0,64}$/;
const WRAPPING = /^[\s`"'*[\]【】「」“”]{1,16}|[\s`"'*[\]【】「」“”.。,，;；:：]{1,16}$/g;
const INLINE_INPUT = /[ \t,，;；|]{0,4}(?:action[ _]?input|行动输入|动作输入|操作输入)[*_`]{0,2}[ \t]{0,2}[:：]/i;
const WITH_ARGUMENTS = /^[`"'*]{0,2}([\w.-]{1,64})[ \t]{0,2}([([{])/;
const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/**
 * @param value text after `Action:`
 * @param input text after its `Action Input:`; null without such a label
 */
export function parseAction(value: string, input: string | null): ParsedAction {
  const body = withoutFences(value);
  if (PLAIN.test(body)) return toAction(body, input ?? '');
  const parsed = parseJsonAction(body) ?? parseCalled(body, input);
  if (parsed) return parsed;
  const [head, rest] = splitFirstLine(body);
  const inline = input === null ? INLINE_INPUT.exec(head) : null;
  if (inline) return toAction(head.slice(0, inline.index), join(head.slice(inline.index + inline[0].length), rest));
  const wanted = toAction(head, input ?? rest);
  return wanted.kind === 'call' && input === null ? { ...wanted, input: fencedPart(rest, false) } : wanted;
}

/** Whether a text only states that there is nothing. */
export function saysNothing(text: string): boolean {
  return text.length <= LONGEST_NOTHING && NOTHING.has(stripWrapping(text).toLowerCase());
}

/** Whether an action ends the run. */
export function isFinish(value: string): boolean {
  return FINISH.has(stripWrapping(withoutFences(value)).toLowerCase());
}

/** The answer in the input of a finishing action: the text, unwrapped from JSON with a single string. */
export function toAnswer(input: string): string {
  const bare = withoutFences(input);
  const parsed = tryParse(bare);
  if (typeof parsed === 'string') return parsed;
  if (!isJsonObject(parsed)) return input.trim();
  const values: unknown[] = Object.values(parsed);
  return values.length === 1 && typeof values[0] === 'string' ? values[0] : input.trim();
}

function toAction(head: string, input: string): ParsedAction {
  const name = stripWrapping(head);
  const word = name.toLowerCase();
  if (FINISH.has(word)) return { kind: 'finish', text: toAnswer(input) };
  if (head.length > LONGEST_NOTHING || !NOTHING.has(word)) return { kind: 'call', name, input };
  const [first, rest] = splitFirstLine(input);
  return { kind: 'none', text: saysNothing(first) ? rest.trim() : input.trim() };
}

/** `calculator(expression="1+1")`, `calculator[1+1]`, `calculator {"expression": "1+1"}`. */
function parseCalled(body: string, input: string | null): ParsedAction | null {
  if (input !== null && input.trim() !== '') return null;
  const match = WITH_ARGUMENTS.exec(body);
  if (!match) return null;
  const [begin, name, open] = match as unknown as [string, string, string];
  const close = CLOSING[open]!;
  const end = body.endsWith(close) ? body : body.replace(/[`"'*.。;]{1,4}$/, '');
  if (!end.endsWith(close) || end.length <= begin.length) return null;
  const inner = end.slice(begin.length, -1).trim();
  return toAction(name, open === '{' ? `{${inner}}` : toInput(inner));
}

function toInput(inner: string): string {
  return (inner.includes('=') ? parseKeywords(inner) : null) ?? unquote(inner);
}

/** `{"action": "calculator", "action_input": {…}}`. */
function parseJsonAction(body: string): ParsedAction | null {
  const parsed = body.startsWith('{') ? tryParse(body) : null;
  if (typeof parsed !== 'object' || parsed === null) return null;
  const fields = new Map<string, unknown>(Object.entries(parsed));
  const name = firstOf(fields, ['action', 'name', 'tool']);
  if (typeof name !== 'string') return null;
  const input = firstOf(fields, ['action_input', 'arguments', 'input', 'parameters']) ?? {};
  return toAction(name, typeof input === 'string' ? input : JSON.stringify(input));
}

function firstOf(fields: ReadonlyMap<string, unknown>, keys: readonly string[]): unknown {
  return fields.get(keys.find((key) => fields.has(key)) ?? '');
}

function unquote(text: string): string {
  const [quote] = text;
  if (text.length < 2 || (quote !== '"' && quote !== "'")) return text;
  return text.indexOf(quote, 1) === text.length - 1 ? text.slice(1, -1) : text;
}

function stripWrapping(text: string): string {
  return PLAIN.test(text) ? text : text.trim().slice(0, LONGEST_NAME).replace(WRAPPING, '');
}

function splitFirstLine(text: string): [string, string] {
  const at = text.indexOf('\n');
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

function join(first: string, rest: string): string {
  return rest === '' ? first : `${first}\n${rest}`;
}

/** @returns undefined if the text is not JSON, or nested too deep */
export function tryParse(text: string): unknown {
  if (!mayBeJson(text)) return undefined;
  const parsed = parseJson(text, parseExactJson);
  if (parsed.ok) return parsed.value;
  // The check of the arguments rejects JSON with a forbidden key, with the reason.
  return parsed.fault.kind === 'forbidden_key' ? parseExactJson(text) : undefined;
}
