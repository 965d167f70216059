/** An element with the places of what it says: offsets into its text, in UTF-16 units. */
export interface XmlElement {
  readonly name: string;
  /** Of its `<`. */
  readonly offset: number;
  readonly attributes: Map<string, XmlAttribute>;
  readonly children: XmlElement[];
  /** All its text, character data and CDATA alike, without that of its children. */
  text: string;
}

export interface XmlAttribute {
  readonly value: string;
  /** Of the first letter of its name. */
  readonly offset: number;
}
