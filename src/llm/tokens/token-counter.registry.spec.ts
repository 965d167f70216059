import { describe, expect, it, vi } from 'vitest';
import { Logger } from '@nestjs/common';
import { loadConfig } from '../../config/index.js';
import { TokenCounterRegistry } from './token-counter.registry.js';
import { type Vocabulary, VocabularyLoader, type VocabularyName } from './vocabulary.loader.js';

class CountingLoader extends VocabularyLoader {
  readonly loaded: VocabularyName[] = [];

  override async load(name: VocabularyName): Promise<Vocabulary> {
    this.loaded.push(name);
    return super.load(name);
  }
}

class BrokenLoader extends CountingLoader {
  override async load(name: VocabularyName): Promise<Vocabulary> {
    this.loaded.push(name);
    throw new Error("Cannot find package 'gpt-tokenizer'");
  }
}

function registryWith(loader: VocabularyLoader, env: Record<string, string> = {}): TokenCounterRegistry {
  return new TokenCounterRegistry(loadConfig({ env }).config.llm, loader);
}

describe('TokenCounterRegistry', () => {
  it('loads a vocabulary on first use, once for all callers', async () => {
    const loader = new CountingLoader();
    const registry = registryWith(loader);
    expect((await registry.of('claude-sonnet-4-5')).isExact).toBe(false);
    expect(loader.loaded).toEqual([]);
    const counters = await Promise.all(['gpt-4o', 'gpt-5', 'o3'].map((model) => registry.of(model)));
    expect(new Set(counters).size).toBe(1);
    expect([counters[0]!.isExact, counters[0]!.count('hello world')]).toEqual([true, 2]);
    expect((await registry.of('gpt-4')).isExact).toBe(true);
    expect(loader.loaded).toEqual(['o200k_base', 'cl100k_base']);
  });

  it('estimates, with one warning, if the library cannot be loaded', async () => {
    const warn = vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    const loader = new BrokenLoader();
    const registry = registryWith(loader);
    const counters = await Promise.all([registry.of('gpt-4o'), registry.of('gpt-5'), registry.of('gpt-4o')]);
    expect(counters.map(({ isExact }) => isExact)).toEqual([false, false, false]);
    expect(counters[0].count('hello world')).toBeGreaterThanOrEqual(2);
    expect(loader.loaded).toEqual(['o200k_base']);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('TOKEN_COUNTING=estimate'));
    warn.mockRestore();
  });

  it('returns an estimate until the vocabulary is loaded, and loads it in the background', async () => {
    const loader = new CountingLoader();
    const registry = registryWith(loader);
    vi.useFakeTimers();
    expect([registry.atHand('gpt-4o').isExact, registry.atHand('gpt-5').isExact]).toEqual([false, false]);
    expect([loader.loaded, vi.getTimerCount()]).toEqual([[], 1]);
    vi.runAllTimers();
    vi.useRealTimers();
    await registry.of('gpt-4o');
    expect([loader.loaded, registry.atHand('gpt-5').isExact]).toEqual([['o200k_base'], true]);
    expect(registry.atHand('claude-sonnet-4-5').isExact).toBe(false);
  });

  it('loads no vocabulary if TOKEN_COUNTING is estimate', async () => {
    const loader = new CountingLoader();
    expect((await registryWith(loader, { TOKEN_COUNTING: 'estimate' }).of('gpt-4o')).isExact).toBe(false);
    expect(loader.loaded).toEqual([]);
  });
});
