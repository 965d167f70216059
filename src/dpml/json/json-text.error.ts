/** Why a text is not read as JSON, and where. */
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
