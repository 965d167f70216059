import { ExactInteger } from '../../common/index.js';

const CENSOR = '[redacted]';

/** Takes secrets out of whatever a server says, in every form in which it may say them again. */
export class SecretRedaction {
  /** The longest first, so that none leaves a part of another. */
  private readonly forms: readonly string[];
  /** Those that JSON can say as a number, which keeps neither leading zeros nor more than 17 digits. */
  private readonly numbers: ReadonlySet<number>;

  constructor(secrets: readonly string[]) {
    const all = new Set(secrets.flatMap(formsOf));
    this.forms = [...all].toSorted((one, other) => other.length - one.length);
    this.numbers = new Set(secrets.map(Number).filter(Number.isFinite));
  }

  text(text: string): string {
    return this.forms.reduce((told, form) => told.replaceAll(form, CENSOR), text);
  }

  /** The same for every text and number of a JSON value, names included. */
  value(value: unknown): unknown {
    if (this.forms.length === 0) return value;
    if (typeof value === 'string') return this.text(value);
    if (value instanceof ExactInteger) return this.holdsDigits(value) ? CENSOR : value;
    if (typeof value === 'number') return this.holds(value) ? CENSOR : value;
    if (Array.isArray(value)) return value.map((member) => this.value(member));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [this.text(name), this.value(member)]));
  }

  /** A secret may also be the number that the digits are read as elsewhere. */
  private holdsDigits(value: ExactInteger): boolean {
    return this.text(value.text) !== value.text || this.holds(value.toNumber());
  }

  private holds(value: number): boolean {
    const written = String(value);
    return this.numbers.has(Math.abs(value)) || this.text(written) !== written;
  }
}

function formsOf(secret: string): string[] {
  const query = new URLSearchParams({ a: secret }).toString().slice(2);
  return [
    secret,
    encodeURIComponent(secret),
    query,
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString('base64'),
  ];
}
