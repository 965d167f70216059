import { splitAtPlaceholders } from './placeholder.parser.js';
import type { SqlValue, Statement } from './statement.types.js';

/** More different texts than a program has; one who builds texts without end must not fill the memory. */
const MOST_KEPT = 1000;

/** What a statement's row count fails with. */
export const ROWS_REFUSED = 'jackdaw refuses';

/** Named so that no column is hidden by it: inside a block a variable wins. */
const AT = 'jackdaw_at';
const SAID = 'jackdaw_said';
const BEGIN = `BEGIN NOT ATOMIC
DECLARE ${AT} INTEGER DEFAULT 0;
DECLARE ${SAID} TEXT;
DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN
  GET DIAGNOSTICS CONDITION 1 ${SAID} = MESSAGE_TEXT;
  ROLLBACK;
  SET ${SAID} = LEFT(CONCAT(${AT}, ': ', ${SAID}), 500);
  RESIGNAL SET MESSAGE_TEXT = ${SAID};
END;
START TRANSACTION;
`;

/** Writes SQL with its values in it, for the text protocol. */
export class MariadbTextBuilder {
  private readonly pieces = new Map<string, readonly string[]>();

  /** `escape` quotes a text, for a connection whose `sql_mode` lacks NO_BACKSLASH_ESCAPES. */
  constructor(private readonly escape: (text: string) => string) {}

  query(sql: string, params: readonly SqlValue[]): string {
    const pieces = this.piecesOf(sql);
    if (pieces.length !== params.length + 1) {
      throw new TypeError(`${pieces.length - 1} placeholders and ${params.length} values: ${sql}`);
    }
    let text = pieces[0]!;
    for (const [at, value] of params.entries()) text += this.literal(value) + pieces[at + 1]!;
    return text;
  }

  /**
   * A batch as one compound statement, which the server ends whatever becomes of this process: a frozen one holds no lock.
   * What fails is rolled back, and its message begins with the statement's number, counted from 0.
   */
  batch(batch: readonly Statement[]): string {
    let text = BEGIN;
    for (const [at, { sql, params, rows }] of batch.entries()) {
      text += `SET ${AT} = ${at};\n${this.query(sql, params)};\n`;
      if (rows !== undefined) {
        text += `IF ROW_COUNT() <> ${rows} THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = '${ROWS_REFUSED}'; END IF;\n`;
      }
    }
    return `${text}COMMIT;\nEND`;
  }

  private literal(value: SqlValue): string {
    if (value === null) return 'NULL';
    if (typeof value === 'string') return this.escape(value);
    if (Number.isFinite(value)) return String(value);
    throw new TypeError(`${typeof value === 'number' ? value : `A ${typeof value}`} is no value of a database.`);
  }

  private piecesOf(sql: string): readonly string[] {
    let pieces = this.pieces.get(sql);
    if (!pieces) {
      pieces = splitAtPlaceholders(sql);
      if (this.pieces.size < MOST_KEPT) this.pieces.set(sql, pieces);
    }
    return pieces;
  }
}
