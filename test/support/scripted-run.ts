import type { Statement } from '../../src/persistence/statement/index.js';
import type { RunRecord } from '../../src/run/index.js';
import { NO_USAGE, type RunEvent } from '../../src/run/event/index.js';
import { RunOutbox } from '../../src/run/run-outbox.js';
import { PLAIN_CIPHER } from '../../src/security/encryption/index.js';
import { endRun, fence, releaseRun } from '../../src/run/run-statement.factory.js';
import { turns } from './distant-database.js';
import { completed, type RunHost } from './run-host.js';

/** `model` and `tool` start a step, `complete` ends a message, `crash` is a takeover by another execution. */
export type Happening = 'model' | 'delta' | 'complete' | 'thought' | 'tool' | 'commit' | 'crash';
export type Ending = 'completed' | 'waiting' | 'handed over';

export interface Plot {
  readonly happenings: readonly Happening[];
  readonly ending: Ending;
  /** Turns of the event loop before each happening, and between a commit and its publication. */
  readonly pauses: readonly number[];
}

/** A run that publishes the events of a plot. */
export class ScriptedRun {
  /** The published text of each attempt at a message. */
  readonly texts = new Map<number, string>();
  /** The number of the last event that is durable. */
  durable = 1;
  hasEnded = false;
  private outbox: RunOutbox;
  private n = 1;
  private step = 0;
  private iteration = 0;
  private text = '';
  private pieces = 0;

  constructor(
    private readonly host: RunHost,
    private run: RunRecord,
    private readonly plot: Plot,
  ) {
    this.outbox = new RunOutbox(run, host.bus, 1, PLAIN_CIPHER, host.journal.budget);
    host.bus.subscribe(run.id, ({ event, place: { attempt, offset } }) => {
      if (event.type !== 'message.delta' && event.type !== 'step.restarted') return;
      const before = event.type === 'step.restarted' ? '' : (this.texts.get(attempt) ?? '');
      this.texts.set(attempt, before + event.text);
      if (before.length + event.text.length !== offset) throw new Error('An offset is wrong.');
    });
  }

  /** @param onHappening is called before each happening, and before the end */
  async perform(onHappening: (i: number) => void): Promise<void> {
    for (const [i, happening] of this.plot.happenings.entries()) {
      onHappening(i);
      await this.pause();
      await this.happen(happening);
    }
    onHappening(this.plot.happenings.length);
    await this.pause();
    await this.end();
    this.hasEnded = true;
  }

  private async happen(happening: Happening): Promise<void> {
    switch (happening) {
      case 'model':
        this.text = '';
        return this.outbox.add({ type: 'step.started', step: `model:${++this.iteration}` });
      case 'delta':
        return this.say(`${this.pieces++} 🐦`);
      case 'complete':
        return this.complete();
      case 'thought':
        return this.add({ type: 'thought', iteration: this.iteration, text: String(this.n) });
      case 'tool':
        return this.outbox.add({ type: 'step.started', step: 'tool:1:1' });
      case 'commit':
        return this.commit(fence(this.run));
      case 'crash':
        return this.continueElsewhere();
    }
  }

  private say(text: string): void {
    this.text += text;
    this.outbox.add({ type: 'message.delta', iteration: this.iteration, text });
  }

  private complete(): void {
    const { iteration, text } = this;
    this.text = '';
    this.add({ type: 'message.completed', iteration, text, finish_reason: 'stop', tool_calls: [] });
  }

  private async continueElsewhere(): Promise<void> {
    const { journal, bus } = this.host;
    this.text = '';
    this.run = (await journal.claim((await journal.find(this.run.id))!, 1)).run;
    this.n = await journal.lastEvent(this.run.id);
    this.outbox = new RunOutbox(this.run, bus, this.n, PLAIN_CIPHER, journal.budget);
    this.add({ type: 'run.resumed', run_id: this.run.id, attempt: this.run.epoch });
    // Text is only published in a step.
    this.outbox.add({ type: 'step.started', step: `model:${this.iteration}` });
  }

  private async end(): Promise<void> {
    const { id } = this.run;
    switch (this.plot.ending) {
      case 'completed': {
        const { event } = completed(id) as { event: RunEvent };
        this.add({ ...event, usage: NO_USAGE } as RunEvent);
        return this.commit(endRun(this.run, 'running', 'completed', 1));
      }
      case 'waiting':
        this.add({ type: 'run.waiting', run_id: id, reason: 'outcome_unknown', requests: [] });
        return this.commit(releaseRun(this.run, 'waiting'));
      case 'handed over':
        await this.commit(releaseRun(this.run, 'queued'));
        this.host.executor.closeStreams(id, 'SHUTTING_DOWN');
    }
  }

  private add(event: RunEvent): void {
    this.n++;
    this.outbox.add(event);
  }

  private async commit(condition: Statement): Promise<void> {
    const batch = this.outbox.take();
    const { n } = this;
    await this.host.journal.commit([condition, ...batch.statements]);
    this.durable = n;
    await this.pause();
    batch.publish();
  }

  private pause(): Promise<void> {
    const { pauses } = this.plot;
    return turns(pauses[this.step++ % pauses.length]!);
  }
}
