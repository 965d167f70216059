import { Log } from '../errors/index.js';
import { isDoneWithin } from '../kernel/index.js';
import { type Labels, MetricFamily } from './metric-family.js';
import { type MetricName, METRICS } from './metric-table.js';

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
