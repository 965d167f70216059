export interface RawParameter {
  readonly name: string;
  /** As it was written: entities and CDATA are still in it. */
  readonly text: string;
  /** DeepSeek's `string` attribute, which says how to read the value. */
  readonly string?: string;
}

/** A call as it was written, or the JSON that stood in the place of calls. */
export type RawCall =
  | {
      readonly kind: 'element';
      readonly name: string;
      readonly parameters: readonly RawParameter[];
      /** What stood outside parameters; some models write their arguments there, as JSON. */
      readonly body: string;
    }
  | { readonly kind: 'json'; readonly text: string };

const BARE_NAME = /^[\w-]{1,64}$/;

/** Collects what a block says, in the order in which it says it. */
export class CallBuilder {
  /** What stands between tags: what may be a name or a body. */
  private loose = '';
  private name: string | null = null;
  private key = '';
  private parameters: RawParameter[] = [];
  private inCall = false;

  constructor(private readonly found: RawCall[]) {}

  get isOpen(): boolean {
    return this.inCall;
  }

  get hasLooseText(): boolean {
    return this.loose.trim() !== '';
  }

  /** Whether the call's arguments are JSON and not elements. */
  get isJsonBody(): boolean {
    return this.inCall && this.loose.trimStart().startsWith('{');
  }

  addText(piece: string): void {
    this.loose += piece;
  }

  start(name: string | null): void {
    this.end();
    this.inCall = true;
    this.name = name;
    this.parameters = [];
    this.loose = '';
  }

  add(element: string, parameter: RawParameter): void {
    if (!this.inCall) this.start(this.takeBareName());
    if (element === 'tool_name') this.name = parameter.text.trim();
    else if (element === 'arg_key') this.key = parameter.text.trim();
    else if (element === 'arg_value') this.parameters.push({ ...parameter, name: this.key });
    else this.parameters.push(parameter);
  }

  /** Ends the call; one that has no name is nothing. */
  end(): void {
    if (!this.inCall) return;
    this.inCall = false;
    const { name, parameters, loose: body } = this;
    if (name !== null && name.trim() !== '') this.found.push({ kind: 'element', name: name.trim(), parameters, body });
    this.loose = '';
  }

  endJson(): void {
    this.found.push({ kind: 'json', text: this.loose });
    this.loose = '';
  }

  /** A wrapper that holds nothing but a name calls that tool without arguments. */
  endBareName(): void {
    const name = this.takeBareName();
    if (name !== null) this.found.push({ kind: 'element', name, parameters: [], body: '' });
  }

  private takeBareName(): string | null {
    const name = this.loose.trim();
    this.loose = '';
    return BARE_NAME.test(name) ? name : null;
  }
}
