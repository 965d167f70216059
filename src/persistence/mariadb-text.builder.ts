import { splitAtPlaceholders } from './steady-sql.mapper.js';
import type { SqlValue, Statement } from './statement/statement.types.js';

/** Maximum cached texts, above a program's number of statements, so that generated texts cannot fill the memory. */
const MOST_CACHED = 1000;

/** The error message of a wrong row count. */
export const ROWS_REFUSED = 'jackdaw refuses';

/** Names that hide no column: inside a block a variable takes precedence. */
const AT = 'jackdaw_at';
const MESSAGE = 'jackdaw_said';
/** The message may quote any value, whatever the default character set of the database is. */
const BEGIN = `BEGIN NOT ATOMIC
DECLARE ${AT} INTEGER DEFAULT 0;
DECLARE ${MESSAGE} TEXT CHARACTER SET utf8mb4;
DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN
  GET DIAGNOSTICS CONDITION 1 ${MESSAGE} = MESSAGE_TEXT;
  ROLLBACK;
  SET ${MESSAGE} = LEFT(CONCAT(${AT}, ': ', ${MESSAGE}), 500);
  RESIGNAL SET MESSAGE_TEXT = ${MESSAGE};
END;
START TRANSACTION;
`;

/** Builds SQL that contains its values, for the text protocol. */
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
   * A batch as one compound statement. The server completes it even if this process freezes, so no lock remains. After
   * an error it is rolled back, and the message starts with the statement's number, counted from 0.
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
    throw new TypeError(`${typeof value === 'number' ? value : `A ${typeof value}`} is not a value of a database.`);
  }

  private piecesOf(sql: string): readonly string[] {
    let pieces = this.pieces.get(sql);
    if (!pieces) {
      pieces = splitAtPlaceholders(sql);
      if (this.pieces.size < MOST_CACHED) this.pieces.set(sql, pieces);
    }
    return pieces;
  }
}
