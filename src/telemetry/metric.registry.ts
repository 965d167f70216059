import { Log } from '../errors/index.js';
import { isDoneWithin } from '../kernel/index.js';
import { type MetricDefinition, type MetricName, METRICS } from './metric-table.js';

export type Labels = Readonly<Record<string, string>>;

/** The value of labels that have too many values. */
const OTHER = 'other';
/** Longest value of a label, in UTF-16 units. */
const MAX_LABEL = 100;
const NONE: Labels = {};

/** The values of one combination of labels. */
class Series {
  value = 0;
  sum = 0;
  count = 0;
  readonly counts: number[];

  constructor(
    readonly labels: readonly (readonly [name: string, value: string])[],
    buckets: readonly number[],
  ) {
    this.counts = buckets.map(() => 0);
  }
}

/** The series of one metric. Beyond its limit, combinations of values from outside are counted as `other`. */
export class MetricFamily {
  private readonly all = new Map<string, Series>();
  private readonly combinations = new Set<string>();
  private readonly fixed: readonly string[];
  private readonly open: readonly string[];
  private readonly buckets: readonly number[];

  constructor(
    private readonly name: string,
    private readonly definition: MetricDefinition,
  ) {
    this.fixed = Object.keys(definition.fixed ?? {});
    this.open = definition.open ?? [];
    this.buckets = definition.buckets ?? [];
    // A counter that has not counted is 0 from the start, so that its first increment is visible.
    if (definition.type !== 'gauge' && this.fixed.length + this.open.length === 0) this.series(NONE);
  }

  add(labels: Labels, by: number): void {
    this.series(labels).value += by;
  }

  /** Of several present values that count as `other` the first applies: sources report the worst one first. */
  set(labels: Labels, value: number): void {
    const series = this.series(labels);
    if (series.count > 0) return;
    series.value = value;
    if (this.definition.type === 'gauge') series.count = 1;
  }

  observe(labels: Labels, value: number): void {
    const series = this.series(labels);
    series.sum += value;
    series.count++;
    const at = this.buckets.findIndex((bound) => value <= bound);
    if (at >= 0) series.counts[at]!++;
  }

  /** Removes all series: the next scrape reads present values. */
  clear(): void {
    this.all.clear();
    this.combinations.clear();
  }

  /** The family in the text format of Prometheus, version 0.0.4. */
  text(): string {
    const { name, definition } = this;
    const lines = [`# HELP ${name} ${definition.help}`, `# TYPE ${name} ${definition.type}`];
    for (const series of this.all.values()) {
      if (definition.type === 'histogram') this.writeHistogram(series, lines);
      else lines.push(`${name}${labelText(series.labels)} ${series.value}`);
    }
    return `${lines.join('\n')}\n`;
  }

  private writeHistogram({ labels, counts, sum, count }: Series, lines: string[]): void {
    let total = 0;
    for (const [at, bound] of this.buckets.entries()) {
      total += counts[at]!;
      lines.push(`${this.name}_bucket${labelText([...labels, ['le', String(bound)]])} ${total}`);
    }
    lines.push(
      `${this.name}_bucket${labelText([...labels, ['le', '+Inf']])} ${count}`,
      `${this.name}_sum${labelText(labels)} ${sum}`,
      `${this.name}_count${labelText(labels)} ${count}`,
    );
  }

  private series(labels: Labels): Series {
    const open = this.limited(this.open.map((name) => (labels[name] ?? '').slice(0, MAX_LABEL)));
    const values = [...this.fixed.map((name) => labels[name] ?? ''), ...open];
    const key = values.join('\n');
    let series = this.all.get(key);
    if (!series) {
      const names = [...this.fixed, ...this.open];
      const pairs = names.map((name, at) => [name, values[at]!.toWellFormed()] as const);
      this.all.set(key, (series = new Series(pairs, this.buckets)));
    }
    return series;
  }

  private limited(values: readonly string[]): readonly string[] {
    if (values.length === 0) return values;
    const key = values.join('\n');
    if (this.combinations.has(key)) return values;
    if (this.combinations.size >= (this.definition.limit ?? 0)) return values.map(() => OTHER);
    this.combinations.add(key);
    return values;
  }
}

function labelText(labels: readonly (readonly [name: string, value: string])[]): string {
  if (labels.length === 0) return '';
  return `{${labels.map(([name, value]) => `${name}="${escaped(value)}"`).join(',')}}`;
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

/** A present value of a gauge, or of a counter that another part counts. */
export type Sample = readonly [metric: MetricName, value: number, labels?: Labels];

/** Reads present values at a scrape. Of a source that fails or is late, the output has no series. */
export type MetricSource = () => Iterable<Sample> | Promise<Iterable<Sample>>;

/** Longest wait for the sources of a scrape, in ms. */
const SOURCE_LIMIT_MS = 2_000;
const NAMES = Object.keys(METRICS) as MetricName[];

/**
 * The metrics of this process. Modules count events here, and register sources of values that are read only at a scrape.
 * The number of series is bounded (`MAX_SERIES`).
 */
export class MetricRegistry {
  private readonly logger = new Log(MetricRegistry.name);
  private readonly families = new Map<MetricName, MetricFamily>();
  private readonly sources: MetricSource[] = [];
  private pending: Promise<string> | null = null;

  /** @param isOn whether anything reads the metrics; if not, modules neither count nor observe */
  constructor(readonly isOn: boolean) {
    for (const name of NAMES) this.families.set(name, new MetricFamily(name, METRICS[name]));
  }

  /** Adds to a counter. */
  count(metric: MetricName, labels: Labels = {}, by = 1): void {
    this.families.get(metric)!.add(labels, by);
  }

  /** Adds a value to a histogram. @param seconds in s */
  observe(metric: MetricName, seconds: number, labels: Labels = {}): void {
    this.families.get(metric)!.observe(labels, seconds);
  }

  /** Registers a source of present values. */
  collect(source: MetricSource): void {
    this.sources.push(source);
  }

  /** The metrics in the text format of Prometheus, version 0.0.4. Simultaneous scrapes share one reading. */
  text(): Promise<string> {
    this.pending ??= this.scrape().finally(() => (this.pending = null));
    return this.pending;
  }

  private async scrape(): Promise<string> {
    const read = await Promise.all(this.sources.map((source) => this.read(source)));
    const samples = read.flat();
    for (const name of NAMES) if (METRICS[name].type === 'gauge') this.families.get(name)!.clear();
    for (const [name, value, labels = {}] of samples) this.families.get(name)!.set(labels, value);
    return [...this.families.values()].map((family) => family.text()).join('');
  }

  private async read(source: MetricSource): Promise<readonly Sample[]> {
    const reading = this.tried(source);
    return (await isDoneWithin(SOURCE_LIMIT_MS, reading)) ? reading : [];
  }

  private async tried(source: MetricSource): Promise<readonly Sample[]> {
    try {
      return [...(await source())];
    } catch (err) {
      this.logger.warn({ err }, 'A source of metrics failed');
      return [];
    }
  }
}
