import { Injectable } from '@nestjs/common';

/** Loaders of agents from external sources; run after all modules have initialised, before agents are checked. */
@Injectable()
export class AgentSources {
  private readonly sources: (() => Promise<void>)[] = [];

  /** @param load registers agents; an error fails the boot */
  add(load: () => Promise<void>): void {
    this.sources.push(load);
  }

  async load(): Promise<void> {
    for (const load of this.sources) await load();
  }
}
