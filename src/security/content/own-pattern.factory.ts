import { RE2JS } from 're2js';
import { AppError, messageOf } from '../../errors/index.js';
import { patternReach } from './pattern-reach.parser.js';
import type { Finder, OwnPattern, Span } from './content.types.js';

/**
 * Compiles own patterns with RE2, which never backtracks: matching time is linear for every pattern and text.
 * @throws AppError `CONFIG_INVALID` naming every pattern that RE2 rejects or that matches the empty text
 */
export function createFinders(patterns: readonly OwnPattern[]): Finder[] {
  if (patterns.length === 0) return [];
  const mistakes: string[] = [];
  const finders = patterns.map(({ name, pattern }): Finder => {
    try {
      const compiled = RE2JS.compile(pattern);
      if (compiled.matcher('').find()) throw new Error('it matches the empty text: let it need at least one character');
      const find = (text: string): readonly Span[] => {
        const spans: Span[] = [];
        const matcher = compiled.matcher(text);
        while (matcher.find())
          if (matcher.end() > matcher.start()) spans.push({ start: matcher.start(), end: matcher.end() });
        return spans;
      };
      return Object.assign(find, { reach: patternReach(pattern) });
    } catch (error) {
      mistakes.push(`content.patterns "${name}": ${messageOf(error)} (look-around and back-references are not in RE2)`);
      return () => [];
    }
  });
  if (mistakes.length === 0) return finders;
  throw new AppError('CONFIG_INVALID', mistakes.join('\n'), { details: { mistakes } });
}
