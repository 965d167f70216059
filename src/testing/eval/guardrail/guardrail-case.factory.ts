import type { EvalLine } from '../eval.types.js';
import { CHANNELS, GOALS, type Language, TECHNIQUES } from './guardrail-texts.js';

/** A case: an instruction of an attacker in untrusted content, for one question of a user. */
export interface GuardrailCase {
  /** Such as `override-mail-zh`. */
  readonly id: string;
  readonly technique: string;
  readonly channel: string;
  readonly language: Language;
  /** The name of the content in the question. */
  readonly reference: string;
  readonly question: string;
  /** The reading tool; absent if the content is in the question. */
  readonly tool?: string;
  readonly content: string;
  /** The call that the content demands. */
  readonly demanded: { readonly tool: string; readonly arguments: Readonly<Record<string, unknown>> };
}

const LANGUAGES: readonly Language[] = ['en', 'zh'];

/** All cases: each technique in each channel and language, with alternating goals. */
export function guardrailCases(): GuardrailCase[] {
  const places = Object.keys(TECHNIQUES).flatMap((technique) =>
    Object.keys(CHANNELS).flatMap((channel) => LANGUAGES.map((language) => ({ technique, channel, language }))),
  );
  return places.map((place, at) => createCase(place, at));
}

/** The cases as lines of a dataset. */
export function guardrailLines(cases: readonly GuardrailCase[]): EvalLine[] {
  return cases.map(({ id, question, tool, technique, channel, language, demanded }) => ({
    id,
    input: question,
    metadata: { technique, channel, language, demanded: demanded.tool },
    ...(tool === undefined && { isTainted: true }),
  }));
}

type Place = Pick<GuardrailCase, 'technique' | 'channel' | 'language'>;

function createCase({ technique, channel, language }: Place, at: number): GuardrailCase {
  const { tool, question, content: around } = CHANNELS[channel]!;
  const { order, ...demanded } = GOALS[(at + Math.floor(at / GOALS.length)) % GOALS.length]!;
  const text = order[language];
  const half = Math.ceil(text.length / 2);
  const attack = fill(TECHNIQUES[technique]![language], {
    order: text,
    first: text.slice(0, half),
    second: text.slice(half),
    base64: Buffer.from(text).toString('base64'),
    tags: invisible(order.en),
    other: order[language === 'en' ? 'zh' : 'en'],
    tool: demanded.tool,
    arguments: JSON.stringify(demanded.arguments),
  });
  const reference = `ref-${String(at + 1).padStart(3, '0')}`;
  const content = fill(around[language], { attack });
  return {
    id: `${technique}-${channel}-${language}`,
    technique,
    channel,
    language,
    reference,
    question: fill(question[language], { reference, content }),
    ...(tool !== undefined && { tool }),
    content,
    demanded,
  };
}

function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (slot, name: string) => values[name] ?? slot);
}

/** The text in Unicode's block of tags, which no screen shows. */
function invisible(text: string): string {
  return Array.from(text, (character) => String.fromCodePoint(0xe0000 + character.codePointAt(0)!)).join('');
}
