import { ExactInteger } from '../../kernel/json/index.js';

const CENSOR = '[redacted]';

/** Redacts the credentials of a request in its reply, in every encoding in which a server may repeat them. */
export class SecretRedaction {
  /** Longest first, so that replacing one leaves no part of another. */
  private readonly forms: readonly string[];
  /** Secrets that JSON may contain as a number, which loses leading zeros and digits after the 17th. */
  private readonly numbers: ReadonlySet<number>;

  constructor(secrets: readonly string[]) {
    const all = new Set(secrets.flatMap(formsOf));
    this.forms = [...all].toSorted((one, other) => other.length - one.length);
    this.numbers = new Set(secrets.map(Number).filter(Number.isFinite));
  }

  text(text: string): string {
    return this.forms.reduce((redacted, form) => redacted.replaceAll(form, CENSOR), text);
  }

  /** Redacts all strings, numbers and property names of a JSON value. */
  value(value: unknown): unknown {
    if (this.forms.length === 0) return value;
    if (typeof value === 'string') return this.text(value);
    if (value instanceof ExactInteger) return this.holdsDigits(value) ? CENSOR : value;
    if (typeof value === 'number') return this.holds(value) ? CENSOR : value;
    if (Array.isArray(value)) return value.map((member) => this.value(member));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [this.text(name), this.value(member)]));
  }

  /** Compares the digits and the rounded number, since another reader may round them. */
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
