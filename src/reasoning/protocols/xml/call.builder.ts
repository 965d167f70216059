import { MAX_CALLS, MAX_PARAMETERS } from '../protocol.js';

export interface RawParameter {
  readonly name: string;
  /** As written, with entities and CDATA. */
  readonly text: string;
  /** DeepSeek's `string` attribute: whether the value is text. */
  readonly string?: string;
}

/** A call as written, or the JSON in place of calls. */
export type RawCall =
  | {
      readonly kind: 'element';
      readonly name: string;
      readonly parameters: readonly RawParameter[];
      /** Text outside parameters; some models write their arguments there, as JSON. */
      readonly body: string;
    }
  | { readonly kind: 'json'; readonly text: string };

const BARE_NAME = /^[\w-]{1,64}$/;

/** Collects the calls of a reply's blocks, in order. */
export class CallBuilder {
  readonly found: RawCall[] = [];
  /** Number of element calls; the number of JSON calls is not known yet. */
  private elements = 0;
  /** Text between tags: a possible name or body. */
  private loose = '';
  /** First character of that text that is not blank. */
  private looseStart = '';
  private name: string | null = null;
  private key = '';
  private parameters: RawParameter[] = [];
  private inCall = false;

  get isOpen(): boolean {
    return this.inCall;
  }

  get hasLooseText(): boolean {
    return this.looseStart !== '';
  }

  /** Whether the call's arguments are JSON instead of elements. */
  get isJsonBody(): boolean {
    return this.inCall && this.looseStart === '{';
  }

  get hasTooManyCalls(): boolean {
    return this.elements > MAX_CALLS;
  }

  get hasTooManyParameters(): boolean {
    return this.inCall && this.parameters.length > MAX_PARAMETERS;
  }

  startBlock(): void {
    this.takeLoose();
    this.key = '';
  }

  addText(piece: string): void {
    this.loose += piece;
    if (this.looseStart === '') this.looseStart = piece.trimStart().charAt(0);
  }

  start(name: string | null): void {
    this.end();
    this.inCall = true;
    this.name = name;
    this.parameters = [];
    this.takeLoose();
  }

  add(element: string, parameter: RawParameter): void {
    if (!this.inCall) this.start(this.takeBareName());
    if (element === 'tool_name') this.name = parameter.text.trim();
    else if (element === 'arg_key') this.key = parameter.text.trim();
    else if (element === 'arg_value') this.parameters.push({ ...parameter, name: this.key });
    else this.parameters.push(parameter);
  }

  /** Ends the call; a call without a name is dropped. */
  end(): void {
    if (!this.inCall) return;
    this.inCall = false;
    const { name, parameters } = this;
    const body = this.takeLoose();
    if (name !== null && name.trim() !== '') this.addCall(name.trim(), parameters, body);
  }

  endJson(): void {
    this.found.push({ kind: 'json', text: this.takeLoose() });
  }

  /** A wrapper that contains only a name calls that tool without arguments. */
  endBareName(): void {
    const name = this.takeBareName();
    if (name !== null) this.addCall(name, [], '');
  }

  private addCall(name: string, parameters: readonly RawParameter[], body: string): void {
    this.found.push({ kind: 'element', name, parameters, body });
    this.elements++;
  }

  private takeLoose(): string {
    const { loose } = this;
    this.loose = '';
    this.looseStart = '';
    return loose;
  }

  private takeBareName(): string | null {
    const name = this.takeLoose().trim();
    return BARE_NAME.test(name) ? name : null;
  }
}
