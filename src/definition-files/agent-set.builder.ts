import type { AgentSet, AgentWorld, FileAgent } from './placed-agents.registry.js';
import { type AgentDraft, type DraftReading, nearName, readDefinition } from './definition/definition.parser.js';
import { inherit } from './definition/inheritance.policy.js';

/** Placeholder for a missing base, so that the file's own mistakes are reported too. */
const NO_BASE = { model: { provider: 'offline' } };

/** Maximum length of a name, as in definitions; longer names are not compared. */
const MAX_NAME = 128;
/** Maximum number of reported mistakes per file. */
const MAX_MISTAKES = 100;
const MAX_LINE = 500;

/** Result for one file; `not yet` until its base is known. */
type Made = { readonly agent: FileAgent } | { readonly mistakes: readonly string[] } | 'not yet';

/**
 * Builds the agents of a folder. A file with a mistake or a missing target retains its former agent. Agents that extend
 * it then inherit from that one.
 * @param former former agents of the files, by file name
 */
export function buildAgentSet(
  readings: ReadonlyMap<string, DraftReading>,
  former: ReadonlyMap<string, FileAgent>,
  world: AgentWorld,
): AgentSet {
  const mistakes = new Map<string, readonly string[]>();
  for (const [file, reading] of readings) {
    if ('mistakes' in reading) mistakes.set(file, reading.mistakes);
    else if (Array.from(reading.draft.name).length > MAX_NAME) mistakes.set(file, [longName(reading.draft)]);
  }
  for (;;) {
    const found = new AgentSetBuilder({ readings, former, world, mistakes }).build();
    // Each mistake retains a former agent, which may affect other files: build again.
    if (found.mistakes.size === 0) return { agents: found.agents, mistakes: inOrder(readings, mistakes) };
    for (const [file, lines] of found.mistakes) mistakes.set(file, lines);
  }
}

interface BuildInput extends Pick<AgentSet, 'mistakes'> {
  readonly readings: ReadonlyMap<string, DraftReading>;
  readonly former: ReadonlyMap<string, FileAgent>;
  readonly world: AgentWorld;
}

/** One build with a given set of invalid files. */
class AgentSetBuilder {
  private readonly made = new Map<string, Made>();
  /** The file of each agent name. */
  private readonly owners = new Map<string, string>();

  constructor(private readonly options: BuildInput) {}

  /** The agents, and newly found mistakes. */
  build(): AgentSet {
    const { readings, former, mistakes } = this.options;
    this.claim();
    const agents = new Map<string, FileAgent>();
    for (const file of readings.keys()) {
      const agent = mistakes.has(file) ? former.get(file) : agentOf(this.make(file, []));
      if (agent) agents.set(file, agent);
    }
    const found = [...this.made].flatMap(([file, made]) =>
      typeof made === 'object' && 'mistakes' in made ? [[file, made.mistakes] as const] : [],
    );
    return { agents, mistakes: new Map(found) };
  }

  /** Assigns each name to one file; files that already had their name take precedence. */
  private claim(): void {
    const claims = [...this.options.readings.keys()].flatMap((file) => this.claimOf(file));
    for (const isOld of [true, false]) {
      for (const claim of claims) if (claim.isOld === isOld) this.take(claim);
    }
  }

  private claimOf(file: string): { file: string; name: string; isOld: boolean; draft?: AgentDraft }[] {
    const before = this.options.former.get(file);
    const draft = this.draftOf(file);
    if (draft) return [{ file, name: draft.name, isOld: before?.name === draft.name, draft }];
    return before ? [{ file, name: before.name, isOld: true }] : [];
  }

  private take({ file, name, draft }: { file: string; name: string; draft?: AgentDraft }): void {
    const other = this.owners.get(name) ?? this.codeOwner(name);
    if (other === undefined) this.owners.set(name, file);
    else if (draft) this.made.set(file, { mistakes: [duplicate(draft, this.placeOf(other, name))] });
  }

  /** Source of an agent that no file may replace. */
  private codeOwner(name: string): { readonly source: string } | undefined {
    const declared = this.options.world.declared(name);
    return declared && !this.options.world.mayReplace(declared) ? declared : undefined;
  }

  private placeOf(other: string | { readonly source: string }, name: string): string {
    if (typeof other === 'object') return other.source;
    return this.draftOf(other)?.placeOf(['name']) ?? this.options.former.get(other)?.place ?? name;
  }

  private draftOf(file: string): AgentDraft | undefined {
    const reading = this.options.readings.get(file);
    return reading && 'draft' in reading && !this.options.mistakes.has(file) ? reading.draft : undefined;
  }

  /** @param chain files that extend one another; the last one extends this file */
  private make(file: string, chain: readonly string[]): Made {
    const known = this.made.get(file);
    if (known) return known;
    const made = this.makeNew(file, this.draftOf(file)!, chain);
    // In a circle, `circle` has already stored a mistake for each file.
    if (!this.made.has(file)) this.made.set(file, made);
    return this.made.get(file)!;
  }

  private makeNew(file: string, draft: AgentDraft, chain: readonly string[]): Made {
    if (draft.extends === undefined) return this.complete(draft, draft.input);
    const owner = draft.extends === draft.name ? undefined : this.owners.get(draft.extends);
    if (owner === undefined) return this.fromCode(draft, draft.extends);
    if (chain.includes(owner)) return this.circle([...chain.slice(chain.indexOf(owner)), file]);
    const base = this.baseIn(owner, [...chain, file]);
    // The base turned out to be invalid; the next build uses its former agent, if any.
    return base ? this.complete(draft, inherit({ ...base.input }, draft.input)) : 'not yet';
  }

  private baseIn(file: string, chain: readonly string[]): FileAgent | undefined {
    if (this.options.mistakes.has(file)) return this.options.former.get(file);
    return agentOf(this.make(file, chain));
  }

  private fromCode(draft: AgentDraft, base: string): Made {
    const { world } = this.options;
    const declared = world.declared(base);
    if (declared) return this.complete(draft, inherit(declared.definition, draft.input));
    if (base === draft.name) return { mistakes: [circleMistake(draft, [base, base])] };
    const broken = this.brokenPlaceOf(base);
    if (broken !== undefined) return this.withoutBase(draft, `the agent at ${broken} has mistakes`);
    const known = [...world.names, ...this.owners.keys()].filter((name) => name !== draft.name);
    return this.withoutBase(draft, `there is no such agent${nearName(base, known)}`);
  }

  /** Position of an invalid agent of this name. */
  private brokenPlaceOf(name: string): string | undefined {
    const drafts = [...this.options.readings.values()].flatMap((reading) =>
      'draft' in reading ? [reading.draft] : [],
    );
    return drafts.find((draft) => draft.name === name)?.placeOf(['name']);
  }

  private withoutBase(draft: AgentDraft, why: string): Made {
    const own = readDefinition(draft, inherit(NO_BASE, draft.input));
    const mistake = `${draft.placeOf(['extends'])}: extends "${draft.extends}": ${why}`;
    return { mistakes: [mistake, ...('mistakes' in own ? own.mistakes : [])] };
  }

  /** @param files each extends the next one, and the last one the first */
  private circle(files: readonly string[]): Made {
    const drafts = files.map((file) => this.draftOf(file)!);
    for (const [at, draft] of drafts.entries()) {
      const names = [...drafts.slice(at), ...drafts.slice(0, at), draft].map(({ name }) => name);
      this.made.set(files[at]!, { mistakes: [circleMistake(draft, names)] });
    }
    return 'not yet';
  }

  private complete(draft: AgentDraft, whole: unknown): Made {
    const reading = readDefinition(draft, whole);
    if ('mistakes' in reading) return reading;
    const { definition: input } = reading;
    const { world } = this.options;
    const faults = world.faults(input, [...new Set([...world.names, ...this.owners.keys()])]);
    const mistakes = faults.map(({ path, message }) => `${draft.placeOf(path)}: ${message}`);
    if (mistakes.length > 0) return { mistakes };
    return { agent: { name: draft.name, input, place: draft.placeOf(['name']) } };
  }
}

function inOrder(files: ReadonlyMap<string, unknown>, mistakes: AgentSet['mistakes']): AgentSet['mistakes'] {
  return new Map(
    [...files.keys()].flatMap((file) => {
      const lines = mistakes.get(file);
      return lines ? [[file, lines.slice(0, MAX_MISTAKES).map(shortened)] as const] : [];
    }),
  );
}

/** Limits a line, which may contain untrusted text. */
function shortened(line: string): string {
  return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line;
}

function longName(draft: AgentDraft): string {
  return `${draft.placeOf(['name'])}: the name has ${Array.from(draft.name).length} characters; expected 1 to ${MAX_NAME}`;
}

function agentOf(made: Made): FileAgent | undefined {
  return typeof made === 'object' && 'agent' in made ? made.agent : undefined;
}

function duplicate(draft: AgentDraft, other: string): string {
  return `${draft.placeOf(['name'])}: there are two agents named "${draft.name}", here and in ${other}: rename one`;
}

function circleMistake(draft: AgentDraft, names: readonly string[]): string {
  return `${draft.placeOf(['extends'])}: extends "${draft.extends}": a circle: ${names.join(' extends ')}`;
}
