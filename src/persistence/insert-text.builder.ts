/**
 * The SQL of inserts into a table with the same columns. Each text is created once: a prepared statement is looked up
 * by its text, and an equal but different string must be flattened, hashed and compared each time.
 */
export class InsertText {
  private readonly head: string;
  private readonly row: string;
  /** By the conflict clause, then by the number of rows. */
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

  /** @param conflict the SQL clause for existing rows; each distinct clause is cached, so it must not contain values */
  of(rows: number, conflict: string): string {
    let texts = this.texts.get(conflict);
    if (!texts) this.texts.set(conflict, (texts = []));
    return (texts[rows] ??= `${this.head}${this.row}${`, ${this.row}`.repeat(rows - 1)}${conflict && ` ${conflict}`}`);
  }
}
