import { Injectable } from '@nestjs/common';

/** What brings agents from elsewhere, once every module has begun and before any agent is checked. */
@Injectable()
export class AgentSources {
  private readonly sources: (() => Promise<void>)[] = [];

  /** @param load registers agents; what it throws stops the start */
  add(load: () => Promise<void>): void {
    this.sources.push(load);
  }

  /** Called once. */
  async load(): Promise<void> {
    for (const load of this.sources) await load();
  }
}
