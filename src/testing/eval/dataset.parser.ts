import { readFileSync } from 'node:fs';
import { AppError } from '../../errors/index.js';
import { isJsonObject, withoutMark } from '../../kernel/json/index.js';
import { nearNames } from '../../kernel/text/index.js';
import type { EvalLine, ExpectedCall } from './eval.types.js';

/** The members of a line: ours, and the names of other tools for the same. */
const INPUTS = ['input', 'inputs'];
const EXPECTED = ['expected', 'referenceOutputs', 'expectedOutput', 'groundTruth'];
const OTHERS = ['id', 'metadata', 'calls'];
const MEMBERS = [...INPUTS, ...EXPECTED, ...OTHERS];
/** Members of an `inputs` object whose text is the message. */
const MESSAGES = ['input', 'question', 'query', 'message', 'prompt', 'text'];

type Members = Readonly<Record<string, unknown>>;

/**
 * Reads a dataset in JSON Lines, or a page of `GET /api/feedback/dataset`. Empty lines are ignored.
 * @param isOfWorkflow whether the inputs are objects
 * @throws AppError `VALIDATION_FAILED` with file, line and fault
 */
export function readDataset(path: string, isOfWorkflow = false): EvalLine[] {
  return parseDataset(textOf(path), path, isOfWorkflow);
}

/** Parses a dataset. @param path for errors @throws AppError as `readDataset` */
export function parseDataset(text: string, path: string, isOfWorkflow = false): EvalLine[] {
  const ids = new Set<string>();
  const lines = linesIn(withoutMark(text)).flatMap((line, at) =>
    line.trim() === '' ? [] : [parseLine(line, at + 1, path, isOfWorkflow)],
  );
  for (const [line, number] of lines) {
    if (ids.has(line.id)) throw invalid(path, number, `the id "${line.id}" is used twice`);
    ids.add(line.id);
  }
  if (lines.length === 0) throw new AppError('VALIDATION_FAILED', `${path}: the dataset has no lines.`);
  return lines.map(([line]) => line);
}

/** The lines of a text, or of the page that the API returned. */
function linesIn(text: string): readonly string[] {
  if (text.trimStart().startsWith('{')) {
    try {
      const { lines } = JSON.parse(text) as { readonly lines?: unknown };
      if (Array.isArray(lines)) return lines.map((line) => JSON.stringify(line));
    } catch {
      // Several objects: JSON Lines.
    }
  }
  return text.split('\n');
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new AppError('VALIDATION_FAILED', `${path}: the dataset cannot be read.`, { cause });
  }
}

function parseLine(text: string, number: number, path: string, isOfWorkflow: boolean): readonly [EvalLine, number] {
  const members = membersOf(text, (fault) => invalid(path, number, fault));
  try {
    return [toLine(members, String(number), isOfWorkflow), number];
  } catch (error) {
    throw invalid(path, number, error instanceof Error ? error.message : String(error));
  }
}

function membersOf(text: string, fail: (fault: string) => AppError): Members {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw fail(`this is no JSON (${error instanceof Error ? error.message : String(error)})`);
  }
  if (!isJsonObject(value)) throw fail('this is no JSON object');
  return value;
}

function toLine(members: Members, number: string, isOfWorkflow: boolean): EvalLine {
  assertKnown(members);
  const { id = number, metadata, calls } = members;
  if (typeof id !== 'string' && typeof id !== 'number') throw new Error('"id" must be a text or a number');
  if (metadata !== undefined && !isJsonObject(metadata)) throw new Error('"metadata" must be an object');
  const expected = oneOf(members, EXPECTED);
  return {
    id: String(id),
    input: isOfWorkflow ? objectOf(oneOf(members, INPUTS)) : messageOf(oneOf(members, INPUTS)),
    ...(expected !== undefined && { expected }),
    ...(calls !== undefined && { calls: callsOf(calls) }),
    ...(metadata !== undefined && { metadata }),
  };
}

function assertKnown(members: Members): void {
  const unknown = Object.keys(members).find((name) => !MEMBERS.includes(name));
  if (unknown === undefined) return;
  const [near] = nearNames(unknown, MEMBERS);
  throw new Error(`"${unknown}" is no member: ${near ? `did you mean "${near}"?` : `use ${MEMBERS.join(', ')}`}`);
}

/** The value of one of several names for the same. */
function oneOf(members: Members, names: readonly string[]): unknown {
  const found = names.filter((name) => members[name] !== undefined);
  if (found.length > 1) throw new Error(`"${found[0]}" and "${found[1]}" are names for the same: give one of them`);
  return found[0] === undefined ? undefined : members[found[0]];
}

function objectOf(given: unknown): EvalLine['input'] {
  if (isJsonObject(given)) return given;
  throw new Error('"input" (or "inputs") must be an object, the input of the workflow');
}

function messageOf(given: unknown): string {
  const isObject = isJsonObject(given);
  const found = isObject ? MESSAGES.filter((name) => typeof given[name] === 'string') : [];
  const text = isObject ? given[found[0] ?? ''] : given;
  if (typeof text !== 'string' || text.trim() === '') {
    throw new Error(
      isObject ? `the input object must have a text in ${MESSAGES.join(', ')}` : '"input" (or "inputs") must be a text',
    );
  }
  return text;
}

function callsOf(given: unknown): ExpectedCall[] {
  if (!Array.isArray(given)) throw new Error('"calls" must be a list');
  return given.map((call: unknown, at) => {
    const { tool, arguments: args } = isJsonObject(call) ? (call as Members) : {};
    if (typeof tool !== 'string') throw new Error(`"calls[${at}]" must be { "tool": name, "arguments": {…} }`);
    if (args !== undefined && !isJsonObject(args)) throw new Error(`"calls[${at}].arguments" must be an object`);
    return { tool, ...(args !== undefined && { arguments: args }) };
  });
}

function invalid(path: string, line: number, fault: string): AppError {
  return new AppError('VALIDATION_FAILED', `${path}:${line}: ${fault}.`.replace('?.', '?'));
}
