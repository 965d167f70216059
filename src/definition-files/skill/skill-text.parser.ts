import type { Skill } from '../../agent/index.js';

/** The content of a `SKILL.md`, or its mistakes, one per line: `file:line: mistake`. */
export type SkillReading = { readonly skill: Omit<Skill, 'files' | 'read'> } | { readonly mistakes: readonly string[] };

/** Parses YAML. @throws an error with `reason` and `mark`, as js-yaml does */
export type ParseYaml = (text: string) => unknown;

/** Limits of the format (agentskills.io/specification). */
const MAX_NAME = 64;
const MAX_DESCRIPTION = 1024;
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const FENCE = /^---[ \t]*$/;

/**
 * Parses a `SKILL.md`: front matter in YAML between two lines `---`, then the instructions. Unknown fields of the front
 * matter are ignored: other programs have their own.
 * @param file name of the file in messages
 * @param folder name of its folder, which the skill must have
 */
export function readSkillText(file: string, folder: string, text: string, parseYaml: ParseYaml): SkillReading {
  const lines = text.split(/\r\n|\r|\n/);
  if (!FENCE.test(lines[0]!)) return mistakeAt(file, 1, 'expected front matter between two lines ---');
  const end = lines.findIndex((line, at) => at > 0 && FENCE.test(line));
  if (end < 0) return mistakeAt(file, 1, 'the front matter has no end: expected a second line ---');
  const parsed = parse(lines.slice(1, end).join('\n'), parseYaml);
  if ('fault' in parsed) return mistakeAt(file, parsed.line + 1, parsed.fault);
  const { fields } = parsed;
  const placeOf = (field: string) => {
    const at = lines.findIndex((line, n) => n > 0 && n < end && line.startsWith(`${field}:`));
    return `${file}:${Math.max(at, 0) + 1}`;
  };
  const body = lines
    .slice(end + 1)
    .join('\n')
    .trim();
  const mistakes = [
    ...faultsOf(fields, folder).map(([field, fault]) => `${placeOf(field)}: ${field}: ${fault}`),
    ...(body === '' ? [`${file}:${end + 1}: expected instructions after the front matter`] : []),
  ];
  return mistakes.length > 0 ? { mistakes } : { skill: toSkill(fields, body) };
}

function mistakeAt(file: string, line: number, fault: string): SkillReading {
  return { mistakes: [`${file}:${line}: ${fault}`] };
}

type Fields = Readonly<Record<string, unknown>>;

/** @returns `line` is counted from 1 */
function parse(text: string, parseYaml: ParseYaml): { fields: Fields } | { fault: string; line: number } {
  try {
    const value = parseYaml(text);
    if (isObject(value)) return { fields: value };
    return { fault: 'expected fields: name: …, description: …', line: 1 };
  } catch (error) {
    const { reason, mark } = error as { readonly reason?: string; readonly mark?: { readonly line: number } };
    return { fault: `the front matter is not YAML: ${reason ?? String(error)}`, line: (mark?.line ?? 0) + 1 };
  }
}

function faultsOf({ name, description }: Fields, folder: string): (readonly [field: string, fault: string])[] {
  return [
    ...nameFault(name, folder).map((fault) => ['name', fault] as const),
    ...descriptionFault(description).map((fault) => ['description', fault] as const),
  ];
}

function nameFault(name: unknown, folder: string): string[] {
  if (typeof name !== 'string') return ['expected a text'];
  if (name.length > MAX_NAME || !NAME.test(name)) {
    return [`expected at most ${MAX_NAME} of the characters a-z, 0-9 and - (not at an end, and not two together)`];
  }
  return name === folder ? [] : [`it is "${name}", and its folder is "${folder}": give both one name`];
}

function descriptionFault(description: unknown): string[] {
  if (typeof description !== 'string' || description.trim() === '') return ['expected a text that is not blank'];
  const { length } = Array.from(description);
  return length > MAX_DESCRIPTION ? [`it has ${length} characters; at most ${MAX_DESCRIPTION} are allowed`] : [];
}

function toSkill({ name, description, license, compatibility, metadata }: Fields, text: string) {
  return {
    name: name as string,
    description: (description as string).trim(),
    text,
    ...(typeof license === 'string' && { license }),
    ...(typeof compatibility === 'string' && { compatibility }),
    ...(isObject(metadata) && { metadata: textsOf(metadata) }),
  };
}

function textsOf(metadata: Fields): Record<string, string> {
  const entries = Object.entries(metadata).filter(([, value]) => typeof value !== 'object');
  return Object.fromEntries(entries.map(([key, value]) => [key, String(value)]));
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
