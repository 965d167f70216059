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
