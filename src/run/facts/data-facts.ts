/** A fact about the data that a run contains, with its source. Wire format. */
export interface DataFact {
  /** `untrusted`: content that may hold instructions of others; `private`: data that must not leave unnoticed. */
  readonly fact: 'untrusted' | 'private';
  /** The step that read it (`tool:2:1`), or `input`, `history`, `memory`, `import`, `definitions` or `unknown`. */
  readonly step: string;
  readonly tool?: string;
  /** The MCP server or REST document to which private data belongs. */
  readonly origin?: string;
  /** The run of the step, if it is another one. */
  readonly run_id?: string;
}

/** A fact by which a call waits; `out`: the call can carry data out or change something. Wire format. */
export type WaitFact = Omit<DataFact, 'fact'> & { readonly fact: DataFact['fact'] | 'out' };

/** Facts of data whose source was not recorded: it may be both. */
export const UNKNOWN_FACTS: readonly DataFact[] = [
  { fact: 'untrusted', step: 'unknown' },
  { fact: 'private', step: 'unknown' },
];

interface EndedFacts {
  readonly run_id: string;
  readonly is_tainted?: true;
  readonly data_facts?: readonly DataFact[];
}

/** Maximum number of distinguished origins; data of further ones counts as data without an origin. */
const MAX_ORIGINS = 16;

/** All facts without repetitions: the first untrusted source, and the first private source of each origin. */
export function mergeFacts(known: readonly DataFact[], more: readonly DataFact[]): readonly DataFact[] {
  if (more.length === 0) return known;
  const merged = [...known];
  for (const one of more) {
    const isKnown = (other: DataFact) =>
      other.fact === one.fact && (one.fact === 'untrusted' || other.origin === one.origin);
    if (merged.some(isKnown)) continue;
    if (one.origin === undefined || merged.length < MAX_ORIGINS) merged.push(one);
    else if (!merged.some(hasNoOrigin)) merged.push(withoutOrigin(one));
  }
  return merged.length === known.length ? known : merged;
}

/** The facts, as another run sees them. */
export function factsOfRun(facts: readonly DataFact[], run_id: string): readonly DataFact[] {
  return facts.map((one) => ({ run_id, ...one }));
}

/** Facts of an ended run, as another run sees them. */
export function factsOfEnd({ is_tainted, data_facts, run_id }: EndedFacts): readonly DataFact[] {
  return factsOfRun(storedFacts({ isTainted: is_tainted, facts: data_facts }), run_id);
}

/** The part of a run's last event with facts, from the facts of the run. */
export function toEndedFacts(facts: readonly DataFact[]): Omit<EndedFacts, 'run_id'> {
  return { ...(isTainted(facts) && { is_tainted: true }), ...(facts.length > 0 && { data_facts: facts }) };
}

export function isTainted(facts: readonly DataFact[]): boolean {
  return facts.some(({ fact }) => fact === 'untrusted');
}

export function isPrivate(facts: readonly DataFact[]): boolean {
  return facts.some(({ fact }) => fact === 'private');
}

/** Facts of a run, a turn or an input as stored; earlier versions stored only the mark of untrusted content. */
export function storedFacts(stored: {
  readonly isTainted?: boolean | undefined;
  readonly facts?: readonly DataFact[] | undefined;
}): readonly DataFact[] {
  return stored.facts ?? (stored.isTainted ? UNKNOWN_FACTS : []);
}

function hasNoOrigin({ fact, origin }: DataFact): boolean {
  return fact === 'private' && origin === undefined;
}

function withoutOrigin({ origin: _origin, ...fact }: DataFact): DataFact {
  return fact;
}
