import { AppError } from '../../errors/index.js';
import type { JsonValue } from '../../kernel/json/index.js';
import { attempt } from '../../tool/index.js';
import type { StateData } from '../../tool/stateful/index.js';
import { isHeaderName, isHeaderText, isReservedHeader } from '../header.policy.js';
import { type JsonPointer, parsePointer, valueAt } from '../json-pointer.parser.js';
import type { RestToolDeclaration } from '../rest-tool.types.js';

/** A token that is captured from replies and sent with later calls. */
export interface TokenRule {
  readonly name: string;
  readonly pointer: JsonPointer;
  /** The declared pointer, for error messages. */
  readonly from: string;
  /** In lower case. */
  readonly header: string;
  readonly prefix: string;
}

/** A stored token. It is sent only to the origin that issued it, even if the declaration names another one now. */
interface HeldToken {
  readonly value: string;
  readonly origin: string;
}

const PREFIX = 'token:';
/** Minimum length: a shorter token cannot be redacted reliably. */
const FEWEST_CHARACTERS = 8;
const MOST_CHARACTERS = 8192;
/** Headers that the call itself sets. */
const OWN_HEADERS = new Set(['accept-encoding', 'content-type', 'idempotency-key']);

/** The capture rules of a declaration. @param taken lower-case names of headers that it sets otherwise */
export function tokenRules(
  { connection: { capture = {} } = {} }: RestToolDeclaration,
  taken: readonly string[],
  problems: string[],
): readonly TokenRule[] {
  const used = new Set(taken);
  return Object.entries(capture).flatMap(([name, { from, header: given, prefix = '' }]) => {
    const header = given.toLowerCase();
    const what = `its connection.capture.${name}`;
    if (!isHeaderName(given))
      problems.push(`${what} names the header ${JSON.stringify(given)}, which is not a valid header name`);
    else if (isReservedHeader(header) || OWN_HEADERS.has(header))
      problems.push(`${what} names the header "${header}", which a tool cannot set`);
    else if (used.has(header)) problems.push(`${what} names the header "${header}", which is already set elsewhere`);
    if (!isHeaderText(prefix)) problems.push(`${what} has a prefix that a header cannot contain: use plain ASCII`);
    used.add(header);
    const pointer = attempt(() => parsePointer(from), problems);
    return pointer ? [{ name, pointer, from, header, prefix }] : [];
  });
}

/** The tokens of a session in one call. */
export class HeldTokens {
  private readonly taken: Record<string, HeldToken> = {};

  constructor(
    private readonly rules: readonly TokenRule[],
    private readonly held: StateData,
    private readonly origin: string,
  ) {}

  headers(): Readonly<Record<string, string>> {
    return Object.fromEntries(
      this.rules.flatMap(({ name, header, prefix }) => {
        const token = this.held[PREFIX + name] as unknown as HeldToken | undefined;
        return token?.origin === this.origin ? [[header, prefix + token.value]] : [];
      }),
    );
  }

  /** All token values, for redaction. */
  get values(): readonly string[] {
    const before = Object.entries(this.held).filter(([key]) => key.startsWith(PREFIX));
    const tokens = [...before.map(([, token]) => token as unknown as HeldToken), ...Object.values(this.taken)];
    return tokens.map(({ value }) => value);
  }

  /**
   * Captures the tokens of a reply.
   * @param reply the reply's JSON
   * @throws AppError `TOOL_FAILED` for a token that cannot be stored
   */
  take(reply: unknown): void {
    for (const { name, pointer, from } of this.rules) {
      const value = valueAt(reply, pointer);
      if (value === undefined || value === null) continue;
      const fault = tokenFault(value);
      if (fault) throw new AppError('TOOL_FAILED', `The token at ${from} of the reply cannot be stored: it ${fault}.`);
      this.taken[PREFIX + name] = { value: value as string, origin: this.origin };
    }
  }

  /** Newly captured tokens, as changes to the stored state. */
  changes(): Record<string, JsonValue> {
    return Object.fromEntries(Object.entries(this.taken).map(([key, token]) => [key, { ...token }]));
  }
}

function tokenFault(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'is not a string';
  if (value.length < FEWEST_CHARACTERS)
    return `has fewer than ${FEWEST_CHARACTERS} characters, so it cannot be redacted`;
  if (value.length > MOST_CHARACTERS) return `has more than ${MOST_CHARACTERS} characters`;
  return isHeaderText(value) ? undefined : 'has characters that a header cannot contain';
}
