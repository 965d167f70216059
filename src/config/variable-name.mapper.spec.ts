import { describe, expect, it } from 'vitest';
import { ENV_NAMES } from './env.schema.js';
import { nearMisses } from './variable-name.mapper.js';

describe('nearMisses', () => {
  it.each([
    ['OPENAI_APIKEY', 'OPENAI_API_KEY'],
    ['openai_api_key', 'OPENAI_API_KEY'],
    ['OPENAI_KEY', 'OPENAI_API_KEY'],
    ['ANTHROPIC_KEY', 'ANTHROPIC_API_KEY'],
    ['LLM_PROVDER', 'LLM_PROVIDER'],
    ['LLM_PROVDIER', 'LLM_PROVIDER'],
    ['API_KEY', 'API_KEYS'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['PROT', 'PORT'],
    ['LOGLEVEL', 'LOG_LEVEL'],
  ])('suggests for %s the variable %s', (name, meant) =>
    expect(nearMisses([name])[0]).toContain(`did you mean ${meant}?`),
  );

  it('ignores its own names and the usual ones of a system', () => {
    const usual =
      'HOME HOSTNAME HOSTTYPE PATH PWD OLDPWD POSIX TERM LANG USER SHELL TZ CI NODE_ENV NODE_OPTIONS EDITOR SHLVL LS_COLORS TMPDIR XDG_DATA_DIRS OPENAI_ORG_ID OLLAMA_HOST REDIS_HOST LOGNAME';
    expect(nearMisses([...ENV_NAMES, ...usual.split(' ')])).toEqual([]);
  });
});
