import { cpSync, rmSync } from 'node:fs';
import type { BudgetEntry } from '../../src/llm/budget/budget.types.js';
import type { BudgetStore } from '../../src/llm/budget/budget.store.js';
import { createBudgetStore } from '../../src/llm/budget/model-budget.factory.js';
import { entry, NOW, scope } from './budget-entries.js';
import { newFolder } from './jackdaw.js';
import { openDatabase, type OpenDatabase } from './run-host.js';

/** Budgets of one process in a file of its own, which may crash. */
export class BudgetWorld {
  private readonly folders: string[] = [];
  opened!: OpenDatabase;
  store!: BudgetStore;

  async open(): Promise<void> {
    if (this.folders.length === 0) this.folders.push(newFolder());
    this.opened = await openDatabase({ DATA_DIR: this.folders.at(-1) });
    this.store = createBudgetStore(this.opened.database);
  }

  async close(): Promise<void> {
    await this.opened.close();
    for (const folder of this.folders.splice(0)) rmSync(folder, { recursive: true });
  }

  async reserved(one: BudgetEntry, before: BudgetEntry | null = null): Promise<BudgetEntry> {
    const scopes = one.scopes.map((key) => scope(key));
    const refusal = await this.store.reserve(one, before, scopes, NOW);
    if (refusal) throw new Error(`The call ${one.id} was refused: ${refusal.kind}`);
    return one;
  }

  /** A model call of a step, with its usage. */
  async take(id: string, tokens: number, isReported = true, keys?: string[]): Promise<void> {
    const held = await this.reserved(entry(id, 100, keys), await this.store.find(id));
    await this.store.settle(held, { tokens, cost: tokens }, Date.now(), { isReported });
  }

  /** Journals the usage of calls, and optionally the end of their run. */
  async reportUsage(
    runId: string,
    tokens: number | readonly number[],
    isOver = false,
    isResumed = false,
  ): Promise<void> {
    const took = [tokens].flat().map((one) => ({ tokens: one, cost: one }));
    const reported = this.store.journaled(runId, took, isOver, isResumed)!;
    await this.opened.database.commit(reported.statements);
    reported.committed();
  }

  /** Starts a new process with a copy of the current files. */
  async crash(): Promise<void> {
    const from = this.folders.at(-1)!;
    this.folders.push(newFolder());
    cpSync(from, this.folders.at(-1)!, { recursive: true });
    await this.opened.close();
    await this.open();
  }

  async sum(key = 'session:s'): Promise<number | undefined> {
    return (await this.store.sum(scope(key)))?.tokens;
  }
}
