const CENSOR = '[redacted]';

/** Takes secrets out of whatever a server says, in every form in which it may say them again. */
export class SecretRedaction {
  /** The longest first, so that none leaves a part of another. */
  private readonly forms: readonly string[];

  constructor(secrets: readonly string[]) {
    const all = new Set(secrets.flatMap(formsOf));
    this.forms = [...all].toSorted((one, other) => other.length - one.length);
  }

  text(text: string): string {
    return this.forms.reduce((told, form) => told.replaceAll(form, CENSOR), text);
  }

  /** The same for every text of a JSON value, names included. */
  value(value: unknown): unknown {
    if (this.forms.length === 0) return value;
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) return value.map((member) => this.value(member));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [this.text(name), this.value(member)]));
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
