import { refusalOf } from './commit-refused.error.js';
import type { Statement } from './statement/statement.types.js';

/** The part of a database that records its place. */
interface PlaceRecorder {
  commit(batch: readonly Statement[]): Promise<void>;
}

/**
 * Whether a database was copied since it was last opened, without the server or the folder that it belongs to. The runs of
 * a copy may still be executed by the processes of the original.
 */
export class DatabaseOrigin {
  /** For a database in memory. */
  static readonly NEW = new DatabaseOrigin({ commit: async () => undefined }, null, '');
  private isAdopted = false;

  /**
   * @param recorded the recorded place of a copy; `null` for a database at its place
   * @param place the present place
   */
  constructor(
    private readonly database: PlaceRecorder,
    private readonly recorded: string | null,
    private readonly place: string,
    private readonly adopted: () => void = () => undefined,
  ) {}

  /** Whether it is a copy that no process has adopted. */
  get isCopy(): boolean {
    return this.recorded !== null && !this.isAdopted;
  }

  /** Refuses a batch after another process has adopted the copy. */
  fence(): Statement {
    return {
      sql: `UPDATE jackdaw_property SET value = value WHERE name = 'place' AND value = ?`,
      params: [this.recorded],
      rows: 1,
    };
  }

  /** Records the present place: the next start finds no copy. Of several processes, the first does it. */
  async adopt(): Promise<void> {
    if (!this.isCopy) return;
    const sql = `UPDATE jackdaw_property SET value = ? WHERE name = 'place' AND value = ?`;
    try {
      await this.database.commit([{ sql, params: [this.place, this.recorded], rows: 1 }]);
    } catch (error) {
      if (refusalOf(error) === null) throw error;
    }
    this.isAdopted = true;
    this.adopted();
  }
}
