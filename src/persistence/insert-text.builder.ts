/**
 * What inserts into a table say that name the same columns. Each text is made once: a prepared statement is found by its text,
 * and one that is equal but not the same has to be flattened, hashed and compared each time.
 */
export class InsertText {
  private readonly head: string;
  private readonly row: string;
  /** By what follows the rows, then by how many these are. */
  private readonly texts = new Map<string, string[]>();

  constructor(
    table: string,
    private readonly columns: readonly string[],
  ) {
    this.head = `INSERT INTO ${table} (${columns.join(', ')}) VALUES `;
    this.row = `(${columns.map(() => '?').join(', ')})`;
  }

  names(columns: readonly string[]): boolean {
    return this.columns.length === columns.length && this.columns.every((name, at) => name === columns[at]);
  }

  /** @param conflict what becomes of a row that is there already: one of a few texts */
  of(rows: number, conflict: string): string {
    let texts = this.texts.get(conflict);
    if (!texts) this.texts.set(conflict, (texts = []));
    return (texts[rows] ??= `${this.head}${this.row}${`, ${this.row}`.repeat(rows - 1)}${conflict && ` ${conflict}`}`);
  }
}
