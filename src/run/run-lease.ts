/** The port to this process's standing among others: whether its runs are still its own, as far as it can know. */
export abstract class RunLease {
  /** The id of this process, written to every run it owns. */
  abstract readonly node: string;

  /**
   * Whether nobody else can have taken its runs over. When `false` (it was frozen, or the database did not answer for
   * long), a run must look at the journal before it does anything to the world.
   */
  abstract isSure(): boolean;
}
