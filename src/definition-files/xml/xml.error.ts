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
