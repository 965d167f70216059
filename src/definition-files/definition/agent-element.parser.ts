import { messageOf } from '../../errors/index.js';
import { parseXml, TextPlaces, type XmlAttribute, type XmlElement, XmlError } from '../xml/xml.parser.js';
import { type AgentDraft, type DraftReading, type DraftSource, nearName } from './definition.parser.js';
import { AGENT_ELEMENT, type ElementRule, ELSEWHERE, type ValueRule } from './agent-element.schema.js';
import { dedent, readValue, Variables } from './value.parser.js';

/** Builds an object by paths and records the text position of each value. */
class DraftValues {
  readonly values: Record<string, unknown> = {};
  private readonly offsets = new Map<string, number>();

  /** @param path dotted; a final `[]` appends to a list @returns the path of the value */
  set(path: string, value: unknown, offset: number): string {
    const isItem = path.endsWith('[]');
    const keys = (isItem ? path.slice(0, -2) : path).split('.');
    const last = keys.pop()!;
    const holder = this.holder(keys);
    if (isItem) keys.push(last, String(append(holder, last, value)));
    else {
      holder[last] = value;
      keys.push(last);
    }
    const whole = keys.join('.');
    this.offsets.set(whole, offset);
    return whole;
  }

  /** Offset of the value, or of its nearest ancestor with an offset. */
  offsetOf(path: readonly PropertyKey[]): number | undefined {
    for (let length = path.length; length > 0; length--) {
      const offset = this.offsets.get(path.slice(0, length).join('.'));
      if (offset !== undefined) return offset;
    }
    return undefined;
  }

  /** Sets the offset for errors about missing values inside a path. */
  place(path: string, offset: number): void {
    this.offsets.set(path, offset);
  }

  private holder(keys: readonly string[]): Record<string, unknown> {
    let at = this.values;
    for (const key of keys) {
      const inner = at[key];
      at = (typeof inner === 'object' && inner !== null ? inner : (at[key] = {})) as Record<string, unknown>;
    }
    return at;
  }
}

/** @returns index in the list */
function append(holder: Record<string, unknown>, key: string, value: unknown): number {
  const list = (holder[key] ??= []) as unknown[];
  return list.push(value) - 1;
}

const ROOT = 'agent';
/** Maximum number of reported mistakes. */
const MAX_MISTAKES = 100;

/** Parses an agent file in XML by the rules of `AGENT_ELEMENT`. */
export function readAgentXml(source: DraftSource): DraftReading {
  const places = new TextPlaces(source.file, source.text);
  try {
    return new AgentElementReader(source, places).read(parseXml(source.text));
  } catch (error) {
    if (error instanceof XmlError) return { mistakes: [`${places.at(error.offset)}: ${error.message}`] };
    throw error;
  }
}

/** Reads the content of an element and collects its mistakes. */
class AgentElementReader {
  private readonly draft = new DraftValues();
  private readonly mistakes: string[] = [];
  private variables = Variables.declared([], {}, () => {});

  constructor(
    private readonly source: DraftSource,
    private readonly places: TextPlaces,
  ) {}

  read(root: XmlElement): DraftReading {
    if (root.name !== ROOT)
      return { mistakes: [`${this.places.at(root.offset)}: expected <agent>, not <${root.name}>`] };
    this.declare(root.attributes.get('env'));
    this.readElement(root, AGENT_ELEMENT, '');
    if (this.mistakes.length > 0) return { mistakes: this.mistakes };
    return { draft: this.toDraft(root) };
  }

  private toDraft(root: XmlElement): AgentDraft {
    const { draft, places } = this;
    const base = root.attributes.get('extends');
    if (base) draft.place('extends', base.offset);
    return {
      format: 'xml',
      name: String(draft.values['name']),
      ...(base && { extends: base.value }),
      input: draft.values,
      placeOf: (path) => places.at(draft.offsetOf(path) ?? root.offset),
    };
  }

  private declare(env: XmlAttribute | undefined): void {
    if (!env) return;
    const names = env.value.split(/[\s,]+/).filter((name) => name !== '');
    this.variables = Variables.declared(names, this.source.env, (mistake) =>
      this.report(env.offset, `env: ${mistake}`),
    );
  }

  private readElement(element: XmlElement, rule: ElementRule, prefix: string): void {
    const { at, initial, list } = rule;
    if (at !== undefined) this.draft.place(prefix + at, element.offset);
    if (initial) this.draft.set(prefix + initial.to, initial.value(), element.offset);
    const inner = list === undefined ? prefix : `${this.draft.set(prefix + list, {}, element.offset)}.`;
    this.readAttributes(element, rule, inner);
    this.readText(element, rule, inner);
    this.readChildren(element, rule, inner);
  }

  private readAttributes(element: XmlElement, { attributes }: ElementRule, prefix: string): void {
    for (const [name, { value, offset }] of element.attributes) {
      const rule = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
      if (rule?.isFile) this.include(value, rule, prefix, offset);
      else if (rule) this.readValue(`${name}="${shown(value)}"`, value, rule, { prefix, offset });
      else this.reportUnknown(`<${element.name}> has no attribute ${name}`, name, Object.keys(attributes), offset);
    }
    for (const [name, { isRequired }] of Object.entries(attributes)) {
      if (isRequired && !element.attributes.has(name)) {
        this.report(element.offset, `<${element.name}> expects the attribute ${name}`);
      }
    }
  }

  private readChildren(element: XmlElement, { children }: ElementRule, prefix: string): void {
    const seen = new Set<string>();
    for (const child of element.children) {
      const { name, offset } = child;
      const rule = Object.hasOwn(children, name) ? children[name] : undefined;
      if (!rule) {
        this.reportUnknown(`<${element.name}> has no element <${name}>`, name, Object.keys(children), offset);
      } else if (seen.has(name) && !rule.isMany) {
        this.report(offset, `<${element.name}> has a second <${name}>; expected one`);
      } else {
        seen.add(name);
        this.readElement(child, rule, prefix);
      }
    }
  }

  private readText({ name, text, offset, attributes }: XmlElement, { text: rule }: ElementRule, prefix: string): void {
    if (text.trim() === '') {
      if (rule && rule.kind === 'text' && !attributes.has('src')) this.report(offset, `<${name}> expects a text`);
      return;
    }
    if (!rule) this.report(offset, `<${name}> expects no text; it has ${JSON.stringify(shown(text.trim()))}`);
    else if (attributes.has('src')) this.report(offset, `<${name}> has a src and a text; expected one of them`);
    else this.readValue(`the text of <${name}>`, dedent(text), rule, { prefix, offset });
  }

  private include(path: string, rule: ValueRule, prefix: string, offset: number): void {
    try {
      const text = this.source.include(path);
      // Included text is literal: variables work only in the text that declares them.
      this.take(`the file ${path}`, text.trimEnd(), rule, { prefix, offset });
    } catch (error) {
      this.report(offset, `src="${shown(path)}": ${messageOf(error)}`);
    }
  }

  private readValue(what: string, given: string, rule: ValueRule, at: { prefix: string; offset: number }): void {
    const text = this.variables.fill(given, (mistake) => this.report(at.offset, `${what}: ${mistake}`));
    this.take(what, text, rule, at);
  }

  private take(what: string, text: string, rule: ValueRule, at: { prefix: string; offset: number }): void {
    const read = readValue(text, rule.kind);
    if ('expected' in read) this.report(at.offset, `${what}: expected ${read.expected}`);
    else if (text.trim() === '') this.report(at.offset, `${what}: expected a text that is not empty`);
    else if (rule.to !== null) this.draft.set(at.prefix + rule.to, read.value, at.offset);
  }

  private reportUnknown(what: string, name: string, known: readonly string[], offset: number): void {
    const elsewhere = Object.hasOwn(ELSEWHERE, name) ? `: ${ELSEWHERE[name]}` : nearName(name, known);
    this.report(offset, `${what}${elsewhere}`);
  }

  private report(offset: number, message: string): void {
    if (this.mistakes.length < MAX_MISTAKES) this.mistakes.push(`${this.places.at(offset)}: ${message}`);
  }
}

const SHOWN_LENGTH = 60;

function shown(text: string): string {
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text;
}
