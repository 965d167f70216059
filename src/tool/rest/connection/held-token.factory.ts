import { AppError, type JsonValue } from '../../../common/index.js';
import type { StateData } from '../../state/tool-state.types.js';
import { attempt } from '../../attempt.policy.js';
import { isHeaderName, isHeaderText, isReservedHeader } from '../header.policy.js';
import { type JsonPointer, parsePointer, valueAt } from '../json-pointer.parser.js';
import type { RestToolDeclaration } from '../rest-tool.types.js';

/** A token that is taken from replies and said by later calls. */
export interface TokenRule {
  readonly name: string;
  readonly pointer: JsonPointer;
  /** As it was declared, for errors. */
  readonly from: string;
  /** In lower case. */
  readonly header: string;
  readonly prefix: string;
}

/** A token as a connection holds it: it is for the origin that gave it, also when the declaration names another by now. */
interface HeldToken {
  readonly value: string;
  readonly origin: string;
}

const PREFIX = 'token:';
/** What is shorter cannot be told from other text, and would be in results. */
const FEWEST_CHARACTERS = 8;
const MOST_CHARACTERS = 8192;
/** What the call says by itself. */
const OWN_HEADERS = new Set(['accept-encoding', 'content-type', 'idempotency-key']);

/** The rules of a declaration. @param taken names of headers, in lower case, that it sets otherwise */
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
      problems.push(`${what} names the header ${JSON.stringify(given)}, which is no name of one`);
    else if (isReservedHeader(header) || OWN_HEADERS.has(header))
      problems.push(`${what} names the header "${header}", which is not for a tool to set`);
    else if (used.has(header)) problems.push(`${what} names the header "${header}", which something else sets already`);
    if (!isHeaderText(prefix)) problems.push(`${what} has a prefix that no header holds: use plain ASCII`);
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

  /** What nobody may be told. */
  get values(): readonly string[] {
    const before = Object.entries(this.held).filter(([key]) => key.startsWith(PREFIX));
    const tokens = [...before.map(([, token]) => token as unknown as HeldToken), ...Object.values(this.taken)];
    return tokens.map(({ value }) => value);
  }

  /**
   * Takes the tokens of a reply.
   * @param said the reply's JSON
   * @throws AppError `TOOL_FAILED` for one that cannot be kept
   */
  take(said: unknown): void {
    for (const { name, pointer, from } of this.rules) {
      const value = valueAt(said, pointer);
      if (value === undefined || value === null) continue;
      const fault = tokenFault(value);
      if (fault) throw new AppError('TOOL_FAILED', `The token at ${from} of the reply is not kept: it ${fault}.`);
      this.taken[PREFIX + name] = { value: value as string, origin: this.origin };
    }
  }

  /** What is new. */
  changes(): Record<string, JsonValue> {
    return Object.fromEntries(Object.entries(this.taken).map(([key, token]) => [key, { ...token }]));
  }
}

function tokenFault(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'is no text';
  if (value.length < FEWEST_CHARACTERS) return `has fewer than ${FEWEST_CHARACTERS} characters, which cannot be hidden`;
  if (value.length > MOST_CHARACTERS) return `has more than ${MOST_CHARACTERS} characters`;
  return isHeaderText(value) ? undefined : 'has characters that no header takes';
}
