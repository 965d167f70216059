/** A JSON syntax error with its position. */
export class JsonTextError extends Error {
  constructor(
    /** In UTF-16 units, from 0. */
    readonly offset: number,
    message: string,
  ) {
    super(message);
    this.name = 'JsonTextError';
  }
}
