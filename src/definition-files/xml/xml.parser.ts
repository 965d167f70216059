import { SaxesParser } from 'saxes';

/** An XML error with its position. */
export class XmlError extends Error {
  constructor(
    /** In UTF-16 units, from 0. */
    readonly offset: number,
    message: string,
  ) {
    super(message);
    this.name = 'XmlError';
  }
}

/** An element with the positions of its parts: offsets into the text, in UTF-16 units. */
export interface XmlElement {
  readonly name: string;
  /** Offset of its `<`. */
  readonly offset: number;
  readonly attributes: Map<string, XmlAttribute>;
  readonly children: XmlElement[];
  /** Its own text, both character data and CDATA, without the text of its children. */
  text: string;
}

export interface XmlAttribute {
  readonly value: string;
  /** Offset of its name. */
  readonly offset: number;
}

/** Maximum length of a text, in UTF-16 units. */
export const MAX_XML_LENGTH = 1_048_576;
const MAX_DEPTH = 32;
const MAX_ELEMENTS = 10_000;
const MAX_ATTRIBUTES = 64;

/** All entities: without a DOCTYPE a document cannot declare others. */
const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/**
 * Parses a document of XML 1.0 in linear time, without external access. A DOCTYPE is rejected, and therefore all
 * entities except the five predefined ones and character references. Comments and processing instructions are ignored.
 * @throws XmlError for the first error, or beyond the limits
 */
export function parseXml(text: string): XmlElement {
  if (text.length > MAX_XML_LENGTH) {
    throw new XmlError(0, `it has ${text.length} characters; at most ${MAX_XML_LENGTH} are read`);
  }
  return new DocumentReader(text).read();
}

function createParser() {
  // Forces the rules of XML 1.0; otherwise the declared version would select those of 1.1.
  return new SaxesParser({ position: true, forceXMLVersion: true, defaultXMLVersion: '1.0' });
}

/** Builds elements from parser events and enforces the limits. */
class DocumentReader {
  private readonly parser = createParser();
  private readonly open: XmlElement[] = [];
  private attributes: XmlElement['attributes'] = new Map();
  private root: XmlElement | undefined;
  private count = 0;

  constructor(private readonly text: string) {}

  read(): XmlElement {
    this.listen();
    this.parser.write(this.text).close();
    if (!this.root) throw new XmlError(0, 'expected an element');
    return this.root;
  }

  private listen(): void {
    const { parser } = this;
    // A null prototype hides inherited names such as `constructor`, which the parser's own table has.
    parser.ENTITIES = Object.assign(Object.create(null) as Record<string, string>, ENTITIES);
    parser.on('error', (error) => this.fail(faultOf(error)));
    parser.on('doctype', () =>
      this.fail('a DOCTYPE is refused: leave it out', this.text.lastIndexOf('<!DOCTYPE', parser.position)),
    );
    parser.on('opentagstart', ({ name }) => this.begin(name));
    parser.on('attribute', ({ name, value }) => this.addAttribute(name, value));
    parser.on('closetag', () => void this.open.pop());
    parser.on('text', (text) => this.addText(text));
    parser.on('cdata', (text) => this.addText(text));
  }

  private begin(name: string): void {
    const offset = this.text.lastIndexOf('<', this.parser.position - 1);
    if (this.open.length === MAX_DEPTH) this.fail(`elements are nested more than ${MAX_DEPTH} deep`, offset);
    if (++this.count > MAX_ELEMENTS) this.fail(`there are more than ${MAX_ELEMENTS} elements`, offset);
    this.attributes = new Map();
    const element = { name, offset, attributes: this.attributes, children: [], text: '' };
    this.open.at(-1)?.children.push(element);
    this.root ??= element;
    this.open.push(element);
  }

  /** Called when the closing quote has been read. */
  private addAttribute(name: string, value: string): void {
    const end = this.parser.position - 1;
    const quote = this.text.lastIndexOf(this.text.charAt(end), end - 1);
    const offset = this.text.lastIndexOf(name, this.text.lastIndexOf('=', quote));
    if (this.attributes.size === MAX_ATTRIBUTES) this.fail(`it has more than ${MAX_ATTRIBUTES} attributes`, offset);
    if (this.attributes.has(name)) this.fail(`the attribute ${name} is there twice`, offset);
    this.attributes.set(name, { value, offset });
  }

  private addText(text: string): void {
    const element = this.open.at(-1);
    if (element) element.text += text;
  }

  private fail(message: string, offset = Math.max(0, this.parser.position - 1)): never {
    throw new XmlError(offset, message);
  }
}

/** Removes the position at the start of the parser's message, and the full stop. */
function faultOf({ message }: Error): string {
  return `not well-formed: ${message.replace(/^\d+:\d+: /, '').replace(/\.$/, '')}`;
}

/** Converts offsets of a text to readable positions; indexes the lines on first use. */
export class TextPlaces {
  private starts: readonly number[] | undefined;

  /** @param source name of the text in messages, such as its path */
  constructor(
    private readonly source: string,
    private readonly text: string,
  ) {}

  /** `source:line:column`, both from 1; columns in UTF-16 units, as in editors. */
  at(offset: number): string {
    const starts = (this.starts ??= lineStarts(this.text));
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return `${this.source}:${low + 1}:${offset - starts[low]! + 1}`;
  }
}

/** Offsets of the line starts. Lines end with CRLF, LF or CR. */
function lineStarts(text: string): number[] {
  const starts = [0];
  for (const end = /\r\n?|\n/g; end.test(text);) starts.push(end.lastIndex);
  return starts;
}
