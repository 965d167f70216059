import { ExactInteger, type JsonValue } from '../../kernel/json/index.js';
import { createSecretMask } from '../../kernel/text/index.js';
import type { ContentFilter } from '../../security/content/index.js';
import type { ChatRequest, ChatResult } from '../chat/chat.types.js';
import { CARD_FILTER, DATA_URI, EMAIL_FILTER, PHONE_FILTER, withoutPersonalData } from './personal-data.mapper.js';
import { keyOf, toJson, toRecordedRequest } from './recorded-request.mapper.js';

/** A text that identifies a person, and the mark that replaces it. */
type Identity = readonly [text: string, mark: string];

/** Fictional numbers of a card and a telephone. */
const [CARD, PHONE] = [4242424242424242, 13900000000];

/** A white pixel. */
const IMAGE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4//8/AAX+Av4N70a4AAAAAElFTkSuQmCC';

/** Fictional values, so that arguments with them are still valid. */
const STAND_INS: readonly (readonly [ContentFilter, (n: number) => string])[] = [
  [EMAIL_FILTER, (n) => `person${n}@example.com`],
  [PHONE_FILTER, (n) => `+120255501${String(n % 100).padStart(2, '0')}`],
  [CARD_FILTER, () => String(CARD)],
];

/**
 * Lines of a cassette from calls of production runs, without secrets and personal data. Requests have marks such as
 * `[emails]`, to which a cassette maps the requests of a replay. Replies and results have fictional values, the same for
 * the same original.
 */
export class MaskedLines {
  /** JSON texts. */
  readonly lines: string[] = [];
  private readonly standIns = new Map<string, string>();
  private readonly mask = createSecretMask();
  private readonly identities: (text: string) => string;

  /** @param identities replaced in all texts, as whole words */
  constructor(identities: readonly Identity[]) {
    this.identities = identityMask(identities);
  }

  /** @param model `provider:model`, as requested */
  addModelCall(model: string, request: ChatRequest, { usage, ...reply }: ChatResult): void {
    const text = (value: string) => this.identities(withoutPersonalData(value));
    const recorded = toRecordedRequest(model, request, this.mask, text);
    const shown = this.fictional(toJson(reply));
    this.add({ key: keyOf(recorded), masked: true, request: recorded, reply: shown, ...(usage && { usage }) });
  }

  /** @param outcome as recorded by `Cassette.addCall` */
  addToolCall(name: string, args: JsonValue, outcome: JsonValue): void {
    const [shown, result] = [this.fictional(args), this.fictional(outcome)];
    this.add({ kind: 'tool', masked: true, name, arguments: shown, result });
  }

  private add(line: object): void {
    this.lines.push(JSON.stringify(line));
  }

  /** The value with fictional personal data. */
  private fictional(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.fictionalText(value);
    if (typeof value === 'number' || value instanceof ExactInteger) {
      return this.fictionalNumber(value, String(value));
    }
    if (Array.isArray(value)) return value.map((one: JsonValue) => this.fictional(one));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [this.fictionalText(key), this.fictional(one)]),
    );
  }

  /** A number stays a number, as a request has it without quotes. */
  private fictionalNumber(value: JsonValue, source: string): JsonValue {
    if (PHONE_FILTER.spans(source).length > 0) return PHONE;
    if (CARD_FILTER.spans(source).length > 0) return CARD;
    const masked = withoutPersonalData(source);
    return masked === source ? value : masked;
  }

  private fictionalText(text: string): string {
    // The stand-ins are personal data in form: marks hold their places while the other data are masked.
    const used: string[] = [];
    const place = (standIn: string) => `\uE000${used.push(standIn) - 1}\uE001`;
    let shown = this.mask(text).replaceAll(DATA_URI, (uri, type: string) => (type === 'image' ? place(IMAGE) : uri));
    for (const [filter, create] of STAND_INS) {
      const spans = filter.spans(shown).toSorted((one, other) => other.start - one.start);
      // From the end, so that the positions stay valid.
      for (const { start, end } of spans) {
        const standIn = this.standInOf(shown.slice(start, end), create);
        shown = shown.slice(0, start) + place(standIn) + shown.slice(end);
      }
    }
    const masked = this.identities(withoutPersonalData(shown));
    return masked.replaceAll(/\uE000(\d+)\uE001/g, (mark, n: string) => used[Number(n)] ?? mark);
  }

  private standInOf(original: string, create: (n: number) => string): string {
    let standIn = this.standIns.get(original);
    if (standIn === undefined) this.standIns.set(original, (standIn = create(this.standIns.size + 1)));
    return standIn;
  }
}

function identityMask(identities: readonly Identity[]): (text: string) => string {
  const marks = new Map(identities.filter(([text]) => text !== ''));
  if (marks.size === 0) return (text) => text;
  const longestFirst = [...marks.keys()].toSorted((one, other) => other.length - one.length);
  const words = longestFirst.map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`));
  const pattern = new RegExp(String.raw`(?<![\p{L}\p{N}_])(?:${words.join('|')})(?![\p{L}\p{N}_])`, 'gu');
  return (text) => text.replaceAll(pattern, (found) => marks.get(found)!);
}
