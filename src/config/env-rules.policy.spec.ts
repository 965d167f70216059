import { describe, expect, it } from '@jest/globals';
import { loadConfig } from './config.loader.js';

describe('rules between variables', () => {
  it('refuses droppable parameters if all parameters are droppable', () => {
    const env = { LLM_QUIRKS: 'drop:seed', LLM_UNSUPPORTED_PARAMETERS: 'drop' };
    expect(() => loadConfig({ env })).toThrow(
      'LLM_QUIRKS: "drop:seed" has no effect with LLM_UNSUPPORTED_PARAMETERS=drop, which permits every parameter: leave one of them out',
    );
    expect(loadConfig({ env: { ...env, LLM_UNSUPPORTED_PARAMETERS: 'refuse' } }).config.llm.droppable).toEqual([
      'seed',
    ]);
  });
});
